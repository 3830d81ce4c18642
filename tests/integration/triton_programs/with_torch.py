"""Torch's CPU build with `cuda` tensors: they live where both torch and kernels can use them."""

import io

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def double_kernel(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


@triton.jit
def hidden_kernel(pointers, out, N: tl.constexpr):
    source = tl.load(pointers + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    i = tl.arange(0, N)
    tl.store(out + tl.program_id(0) * N + i, tl.load(source + i))


def add(x, y):
    out = torch.empty_like(x)
    assert x.device == DEVICE and y.device == DEVICE and out.device == DEVICE
    add_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, out, x.numel(), BLOCK=1024)
    return out


torch.manual_seed(0)
x, y = torch.rand(5000, device=DEVICE), torch.rand(5000, device="cuda")
assert x.is_cuda and torch.equal(add(x, y), x + y)
z = torch.rand(5000)
assert not z.is_cuda and torch.equal(add(x, z.cuda()), x + z.to("cuda:0"))

kept = z.to("cuda")
double_kernel[(1,)](kept, 1000, BLOCK=1024)
assert torch.equal(kept.cpu()[:1000], z[:1000] * 2), "a copy on the device is a copy"
snapshot = kept.cpu()
double_kernel[(1,)](kept, 1000, BLOCK=1024)
assert torch.equal(snapshot[:1000] * 2, kept.cpu()[:1000]), "and so is one on the host"

plain = torch.nn.Linear(16, 16).weight.data
before = plain.clone()
double_kernel[(1,)](plain, 256, BLOCK=256)
assert plain.device.type == "cpu" and torch.equal(plain, before * 2), "copied there and back"

rows = [torch.randn(64, device="cuda") for _ in range(3)]
pointers = torch.tensor([row.data_ptr() for row in rows], device="cuda")
out = torch.zeros(3, 64, device="cuda")
hidden_kernel[(3,)](pointers, out, N=64)
assert torch.equal(out, torch.stack(rows))

leaf = torch.rand(5000, device="cuda", requires_grad=True)
squared = leaf * leaf
assert squared.is_cuda and torch.equal(add(squared.detach(), y), squared + y), "what autograd made"
squared.sum().backward()
gradient = leaf.grad
assert gradient.is_cuda and torch.equal(gradient, 2 * leaf)
double_kernel[(1,)](gradient, 1000, BLOCK=1024)
assert leaf.grad is gradient and torch.equal(leaf.grad[:1000], 4 * leaf[:1000])
assert torch.version.hip and torch.version.cuda is None

assert (
    torch.cuda.is_available() and torch.cuda.get_device_properties(0).multi_processor_count == 304
)
for found in (x.max(dim=0), torch.sort(x), torch.topk(x, 4), torch.cummax(x, 0), torch.aminmax(x)):
    assert all(part.is_cuda for part in found) and type(found).__module__ == "torch.return_types"
assert torch.cat(torch.aminmax(x[:, None], dim=1)).is_cuda
assert torch.linalg.qr(torch.rand(4, 4, device="cuda")).Q.is_cuda

assert torch.device(0) == torch.ones(2, device=0).device == torch.ones(2).to(0).device == DEVICE
assert torch.accelerator.current_accelerator().type == "cuda"
assert torch.accelerator.current_device_index() == 0 and torch.accelerator.is_available()
seeds = [torch.Generator(device="cuda").manual_seed(5) for _ in range(2)]
drawn = [torch.randn(64, device="cuda", generator=seed) for seed in seeds]
assert drawn[0].is_cuda and torch.equal(*drawn) and isinstance(seeds[0], torch.Generator)
assert isinstance(torch.default_generator, torch.Generator)
assert torch.cuda.mem_get_info()[1] == torch.cuda.get_device_properties(0).total_memory
assert torch.cuda.get_arch_list() == ["gfx942"]
pinned = torch.ones(256).pin_memory()
double_kernel[(1,)](pinned, 256, BLOCK=256)
assert torch.equal(pinned, torch.full((256,), 2.0))


class Backwards:
    """A tensor from its end to its start, as libraries wrap what torch has no view for."""

    def __init__(self, base):
        self.base, self.dtype = base, base.dtype

    def data_ptr(self):
        return self.base.data_ptr() + (self.base.numel() - 1) * self.base.element_size()

    def untyped_storage(self):
        return self.base.untyped_storage()


@triton.jit
def strided_copy_kernel(x, out, n, stride, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i * stride, mask=i < n), mask=i < n)


turned = torch.empty_like(x)
strided_copy_kernel[(5,)](Backwards(x), turned, 5000, -1, BLOCK=1024)
assert torch.equal(turned, x.flip(0)), "an offset below a wrapped tensor's pointer is no small one"

rows, ones = 0.5 * torch.randn(1151, 64) - 2, torch.ones(64)


def gradients(dtype, place):
    leaves = [t.to(place, dtype).requires_grad_() for t in (rows.half(), ones, ones)]
    y = torch.nn.functional.layer_norm(leaves[0], (64,), leaves[1], leaves[2])
    y.backward(rows.half().to(place, dtype))
    return [y.detach(), *(leaf.grad for leaf in leaves)]


for found, exact in zip(
    gradients(torch.float16, "cuda"), gradients(torch.float64, "cpu"), strict=True
):
    assert found.is_cuda and found.dtype == torch.float16
    near = torch.allclose(found.cpu().double(), exact, rtol=1e-3, atol=1e-2)
    assert near, "sums of halves are single, as a GPU's are"
assert torch.vmap(lambda row: row + 1)(out).shape == out.shape
file = io.BytesIO()
torch.save({"x": x}, file)
for place in ("cuda", "cpu"):
    file.seek(0)
    again = torch.load(file, map_location=place)["x"]
    assert again.device.type == place and torch.equal(again.cpu(), x.cpu())
x.record_stream(torch.cuda.current_stream())
with torch.accelerator.device_index(0):
    torch.accelerator.synchronize()
assert not torch.cuda.is_current_stream_capturing()
assert triton.testing.do_bench(lambda: add(x, y)) < 0.1
torch.set_default_device("cuda")
assert torch.arange(8).device == DEVICE
print("torch and Triton agree")
