"""A program as LLVM IR text: values over lanes, control flow with masks, barriers, memory."""
