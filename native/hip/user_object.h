// hipUserObject_t: something of the user's that graphs keep alive.
#pragma once

#include "internal_api.h"

namespace hip {

void retain_user_object(hipUserObject_t object, unsigned count);
void release_user_object(hipUserObject_t object, unsigned count);

}  // namespace hip
