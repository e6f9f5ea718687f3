"""Program rewrites before vector widths are selected, one pass per file.

They keep the contract of `vyre.opt.Pass`. `vyre.backends.llvm.pipeline` lists them in order.
"""
