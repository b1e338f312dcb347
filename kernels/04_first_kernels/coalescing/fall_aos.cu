// Where n particles will be after falling for dt seconds: later[i] = z + dt * vz. Each particle is
// a struct of eight fp32 numbers (an array of structs: `particles` is n x 8).
// The idea: what belongs together for a human lies together in memory. The kernel wants two of the
// eight numbers and fetches the sector that holds all eight.
// Limit: memory bandwidth. 36 bytes move for each particle: its sector, and the result.
// grid (ceil(n / 256)), block (256), dynamic shared 0

struct Particle {
    float x, y, z;
    float vx, vy, vz;
    float mass, charge;
};

extern "C" __global__ void fall_aos(const float *particles, float *later, float dt, int n)
{
    const Particle *particle = reinterpret_cast<const Particle *>(particles);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        later[i] = particle[i].z + dt * particle[i].vz;
    }
}
