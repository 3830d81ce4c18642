/* The image extension. CDNA has no image instructions: the calls answer that nothing is supported,
 * but the table has to be there for tools that walk it. */
#ifndef RPL_HSA_EXT_IMAGE_H
#define RPL_HSA_EXT_IMAGE_H

#include "hsa.h"

#ifdef __cplusplus
extern "C" {
#endif

HSA_HANDLE(hsa_ext_image);
HSA_HANDLE(hsa_ext_sampler);

enum {
  HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED = 0x3000,
  HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED = 0x3001,
  HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED = 0x3002,
  HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED = 0x3003
};

/* Agent attributes; every limit reads 0. */
enum {
  HSA_EXT_AGENT_INFO_IMAGE_1D_MAX_ELEMENTS = 0x3000,
  HSA_EXT_AGENT_INFO_IMAGE_1DA_MAX_ELEMENTS = 0x3001,
  HSA_EXT_AGENT_INFO_IMAGE_1DB_MAX_ELEMENTS = 0x3002,
  HSA_EXT_AGENT_INFO_IMAGE_2D_MAX_ELEMENTS = 0x3003,
  HSA_EXT_AGENT_INFO_IMAGE_2DA_MAX_ELEMENTS = 0x3004,
  HSA_EXT_AGENT_INFO_IMAGE_2DDEPTH_MAX_ELEMENTS = 0x3005,
  HSA_EXT_AGENT_INFO_IMAGE_2DADEPTH_MAX_ELEMENTS = 0x3006,
  HSA_EXT_AGENT_INFO_IMAGE_3D_MAX_ELEMENTS = 0x3007,
  HSA_EXT_AGENT_INFO_IMAGE_ARRAY_MAX_LAYERS = 0x3008,
  HSA_EXT_AGENT_INFO_MAX_IMAGE_RD_HANDLES = 0x3009,
  HSA_EXT_AGENT_INFO_MAX_IMAGE_RORW_HANDLES = 0x300A,
  HSA_EXT_AGENT_INFO_MAX_SAMPLER_HANDLERS = 0x300B,
  HSA_EXT_AGENT_INFO_IMAGE_LINEAR_ROW_PITCH_ALIGNMENT = 0x300C
};

typedef enum { HSA_EXT_IMAGE_GEOMETRY_1D = 0, HSA_EXT_IMAGE_GEOMETRY_2DADEPTH = 7 } hsa_ext_image_geometry_t;
typedef enum { HSA_EXT_IMAGE_DATA_LAYOUT_OPAQUE = 0, HSA_EXT_IMAGE_DATA_LAYOUT_LINEAR = 1 } hsa_ext_image_data_layout_t;

typedef struct hsa_ext_image_format_s {
  uint32_t channel_type, channel_order;
} hsa_ext_image_format_t;
typedef struct hsa_ext_image_descriptor_s {
  hsa_ext_image_geometry_t geometry;
  size_t width, height, depth, array_size;
  hsa_ext_image_format_t format;
} hsa_ext_image_descriptor_t;
typedef struct hsa_ext_image_data_info_s {
  size_t size, alignment;
} hsa_ext_image_data_info_t;
typedef struct hsa_ext_image_region_s {
  hsa_dim3_t offset, range;
} hsa_ext_image_region_t;
typedef struct hsa_ext_sampler_descriptor_s {
  uint32_t coordinate_mode, filter_mode, address_mode;
} hsa_ext_sampler_descriptor_t;

HSA_API hsa_status_t hsa_ext_image_get_capability(hsa_agent_t agent, hsa_ext_image_geometry_t geometry,
                                                  const hsa_ext_image_format_t* format, uint32_t* mask);
HSA_API hsa_status_t hsa_ext_image_get_capability_with_layout(hsa_agent_t agent, hsa_ext_image_geometry_t geometry,
                                                              const hsa_ext_image_format_t* format,
                                                              hsa_ext_image_data_layout_t layout, uint32_t* mask);
HSA_API hsa_status_t hsa_ext_image_data_get_info(hsa_agent_t agent, const hsa_ext_image_descriptor_t* descriptor,
                                                 hsa_access_permission_t access, hsa_ext_image_data_info_t* info);
HSA_API hsa_status_t hsa_ext_image_data_get_info_with_layout(hsa_agent_t agent,
                                                             const hsa_ext_image_descriptor_t* descriptor,
                                                             hsa_access_permission_t access,
                                                             hsa_ext_image_data_layout_t layout, size_t row_pitch,
                                                             size_t slice_pitch, hsa_ext_image_data_info_t* info);
HSA_API hsa_status_t hsa_ext_image_create(hsa_agent_t agent, const hsa_ext_image_descriptor_t* descriptor,
                                          const void* data, hsa_access_permission_t access, hsa_ext_image_t* image);
HSA_API hsa_status_t hsa_ext_image_create_with_layout(hsa_agent_t agent, const hsa_ext_image_descriptor_t* descriptor,
                                                      const void* data, hsa_access_permission_t access,
                                                      hsa_ext_image_data_layout_t layout, size_t row_pitch,
                                                      size_t slice_pitch, hsa_ext_image_t* image);
HSA_API hsa_status_t hsa_ext_image_destroy(hsa_agent_t agent, hsa_ext_image_t image);
HSA_API hsa_status_t hsa_ext_image_copy(hsa_agent_t agent, hsa_ext_image_t from, const hsa_dim3_t* from_offset,
                                        hsa_ext_image_t to, const hsa_dim3_t* to_offset, const hsa_dim3_t* range);
HSA_API hsa_status_t hsa_ext_image_import(hsa_agent_t agent, const void* from, size_t row_pitch, size_t slice_pitch,
                                          hsa_ext_image_t to, const hsa_ext_image_region_t* region);
HSA_API hsa_status_t hsa_ext_image_export(hsa_agent_t agent, hsa_ext_image_t from, void* to, size_t row_pitch,
                                          size_t slice_pitch, const hsa_ext_image_region_t* region);
HSA_API hsa_status_t hsa_ext_image_clear(hsa_agent_t agent, hsa_ext_image_t image, const void* data,
                                         const hsa_ext_image_region_t* region);
HSA_API hsa_status_t hsa_ext_sampler_create(hsa_agent_t agent, const hsa_ext_sampler_descriptor_t* descriptor,
                                            hsa_ext_sampler_t* sampler);
HSA_API hsa_status_t hsa_ext_sampler_destroy(hsa_agent_t agent, hsa_ext_sampler_t sampler);

#ifdef __cplusplus
}
#endif
#endif
