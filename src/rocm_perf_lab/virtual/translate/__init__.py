"""Hot kernels of the virtual GPU as host code: docs/translate.md.

The virtual GPU (native/gpu/translate) describes a kernel's decoded instructions; `request` reads
that, `blocks` finds where the code may be entered, and `emit` writes C++ from the ISA table's own
bodies. device/translation.py compiles it; the virtual GPU loads the result.
"""
