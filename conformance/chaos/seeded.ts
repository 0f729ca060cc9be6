/** Numbers in [0, 1) that nothing but the seed decides (a Weyl sequence, its numbers mixed by xor, shift and multiplication). */
export function seeded(seed: number): () => number {
  let weyl = seed | 0;
  return () => {
    weyl = (weyl + 0x9e3779b9) | 0;
    let mixed = Math.imul(weyl ^ (weyl >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}
