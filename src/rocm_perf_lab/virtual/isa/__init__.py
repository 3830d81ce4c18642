"""The instruction set of the virtual GPU, said once.

Each table row names an instruction, its encoding, its operand types and what it does; the
decoder, the executor, the disassembler, the instruction classes and the coverage page are all
generated from the rows (``python -m rocm_perf_lab.virtual.isa.generate OUTDIR``).
"""
