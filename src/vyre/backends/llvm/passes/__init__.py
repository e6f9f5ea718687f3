"""Rewrites of whole programs before any vector width is known, one pass a file.

They keep the contract of `vyre.opt.Pass`. `vyre.backends.llvm.pipeline` lists them in order.
"""
