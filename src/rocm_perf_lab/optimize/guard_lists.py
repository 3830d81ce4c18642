"""What a proposal may use that the kernel did not: everything else new is refused."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MATH = """
    fabs fmax fmin fma fmod remainder sqrt rsqrt cbrt rcbrt hypot rhypot exp exp2 exp10 expm1 log
    log2 log10 log1p pow sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh sincos
    sincospi sinpi cospi erf erfc ceil floor trunc round rint nearbyint copysign ldexp frexp modf
    fdim tgamma lgamma
"""
_DOUBLES = _words(_MATH)
_FLOATS = frozenset(f"{name}f" for name in _DOUBLES)

# Functions of HIP's headers that compute, move data between lanes, or wait. No atomics, no
# clocks, no output, no allocation, no traps: a kernel that had none gets none.
CALLS = (
    _DOUBLES
    | _FLOATS
    | _words(
        """
        abs labs llabs min max isnan isinf isfinite signbit umin umax mul24 umul24
        __fsqrt_rn __frcp_rn __frsqrt_rn __fmaf_rn __fadd_rn __fsub_rn __fmul_rn __fdiv_rn
        __saturatef __mul24 __umul24 __mulhi __umulhi __mul64hi __umul64hi __clz __clzll __ffs
        __ffsll __popc __popcll __brev __brevll __hadd __rhadd __sad __usad
        __int_as_float __float_as_int __uint_as_float __float_as_uint
        __longlong_as_double __double_as_longlong
        __float2int_rn __float2int_rz __float2uint_rn __int2float_rn __uint2float_rn
        __syncthreads __syncwarp __threadfence_block
        __shfl __shfl_up __shfl_down __shfl_xor __shfl_sync __shfl_up_sync __shfl_down_sync
        __shfl_xor_sync __any __all __ballot __lane_id __activemask
        __ldg __ldcs __ldcg __ldca __stcs __stcg
        __half2float __float2half __float2half_rn __half22float2 __float22half2_rn
        __hadd2 __hmul2 __hfma2 __hadd __hmul __hfma __hsub __hsub2 __low2float __high2float
        __halves2half2 __float2half2_rn __half2half2 __low2half __high2half
        __bfloat162float __float2bfloat16
        __builtin_nontemporal_load __builtin_nontemporal_store
        """
    )
    | frozenset(
        f"make_{base}{n}"
        for base in (
            "char uchar short ushort int uint long ulong longlong ulonglong float double".split()
        )
        for n in (1, 2, 3, 4)
    )
    | _words("make_half2")
)

# Functions of less precision (__expf, __fdividef and kin) are not among them.

# What permitted macros and functions turn into; not to be written by name.
EXPANDED = _words(
    """
    __builtin_inff __builtin_inf __builtin_huge_val __builtin_huge_valf __builtin_nanf
    __builtin_nan
    """
)

# Reserved names (with two underscores or one and a capital) that a body may bring in.
NAMES = frozenset(name for name in CALLS if name.startswith("_")) | _words(
    "__restrict__ __restrict __shared__ __half __half2 __hip_bfloat16 __attribute__"
)

# `typedef float f4 __attribute__((ext_vector_type(4)))` and alignment of locals.
ATTRIBUTES = _words("ext_vector_type vector_size aligned")

# Macros of system headers.
MACROS = _words(
    """
    INFINITY NAN HUGE_VAL HUGE_VALF NULL true false
    FLT_MAX FLT_MIN FLT_EPSILON DBL_MAX DBL_MIN DBL_EPSILON
    INT_MAX INT_MIN UINT_MAX LONG_MAX LONG_MIN ULONG_MAX LLONG_MAX LLONG_MIN ULLONG_MAX
    CHAR_BIT SHRT_MAX SHRT_MIN USHRT_MAX UCHAR_MAX SCHAR_MAX SCHAR_MIN
    INT8_MAX INT16_MAX INT32_MAX INT64_MAX UINT8_MAX UINT16_MAX UINT32_MAX UINT64_MAX SIZE_MAX
    M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_SQRT2 M_SQRT1_2
    __shared__ __restrict__
    """
)

# Kinds of the syntax tree (libclang's names) that a body may contain; others only as often as
# the kernel had them.
KINDS = _words(
    """
    COMPOUND_STMT DECL_STMT VAR_DECL IF_STMT FOR_STMT WHILE_STMT DO_STMT SWITCH_STMT CASE_STMT
    DEFAULT_STMT BREAK_STMT CONTINUE_STMT RETURN_STMT NULL_STMT CXX_FOR_RANGE_STMT
    UNEXPOSED_EXPR DECL_REF_EXPR MEMBER_REF_EXPR CALL_EXPR INTEGER_LITERAL FLOATING_LITERAL
    CHARACTER_LITERAL CXX_BOOL_LITERAL_EXPR PAREN_EXPR UNARY_OPERATOR ARRAY_SUBSCRIPT_EXPR
    BINARY_OPERATOR COMPOUND_ASSIGNMENT_OPERATOR CONDITIONAL_OPERATOR CSTYLE_CAST_EXPR
    COMPOUND_LITERAL_EXPR INIT_LIST_EXPR CXX_STATIC_CAST_EXPR CXX_REINTERPRET_CAST_EXPR
    CXX_FUNCTIONAL_CAST_EXPR CXX_UNARY_EXPR CXX_NULL_PTR_LITERAL_EXPR
    TYPE_REF TEMPLATE_REF NAMESPACE_REF OVERLOADED_DECL_REF MEMBER_REF VARIABLE_REF
    TYPEDEF_DECL TYPE_ALIAS_DECL STATIC_ASSERT UNEXPOSED_STMT UNEXPOSED_ATTR
    CUDASHARED_ATTR ALIGNED_ATTR PARM_DECL
    """
)

# Classes of HIP's headers whose members and operators only compute.
VALUE_CLASSES = (
    "HIP_vector_type", "HIP_vector_base", "__half", "__half2", "__hip_bfloat16", "hip_bfloat16",
    "__hip_threadIdx_t", "__hip_blockIdx_t", "__hip_blockDim_t", "__hip_gridDim_t",
    "__HIP_Coordinates", "__X", "__Y", "__Z", "dim3", "uint3",
)  # fmt: skip
