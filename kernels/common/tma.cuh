// Thin wrappers for copies by the Tensor Memory Accelerator (TMA) and the barriers they complete, one
// PTX instruction each, named after the section of the PTX manual it is in. sm_90 and later.

#pragma once

// The result of cuTensorMapEncodeTiled: a matrix in global memory and the box that one copy moves.
struct __align__(64) TensorMap {
    char bits[128];
};

// mbarrier.init: a phase of the barrier ends when `arrivals` have come, and all bytes expected.
__device__ inline void mbarrier_init(unsigned barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals)
                 : "memory");
}

// fence.mbarrier_init, fence.proxy.async: let TMA see the barriers that were just made.
__device__ inline void mbarriers_are_ready()
{
    asm volatile("fence.mbarrier_init.release.cluster;\n"
                 "fence.proxy.async.shared::cta;" ::
                     : "memory");
}

// mbarrier.arrive: one arrival.
__device__ inline void mbarrier_arrive(unsigned barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// mbarrier.arrive.expect_tx: one arrival, and this many bytes in flight.
__device__ inline void mbarrier_expect(unsigned barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

// mbarrier.try_wait.parity: wait until a phase of this parity (0 for the first, then 1, 0...) ended.
__device__ inline void mbarrier_wait(unsigned barrier, unsigned parity)
{
    asm volatile("{\n"
                 ".reg .pred ended;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n"
                 "@!ended bra again;\n"
                 "}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

// cp.async.bulk.tensor: copy the box at (column, row) of a matrix to shared memory. Its bytes count
// towards the barrier. Elements outside the matrix become 0.
__device__ inline void tma_load(unsigned to, const TensorMap *from, int column, int row,
                                unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"(from), "r"(column), "r"(row), "r"(barrier)
                 : "memory");
}

// setmaxnreg: give registers of the calling warpgroup back, or wait for as many. sm_90a.
template <int kRegisters>
__device__ inline void fewer_registers()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

template <int kRegisters>
__device__ inline void more_registers()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
