// Everything exports.py makes exported functions of.
#include "hsa/hsa_api_trace.h"
#include "hsa/hsa_ven_amd_loader.h"
