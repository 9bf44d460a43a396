// Fields of keyframes: each holds the bits that differ from the one before.

/** Part of an array (K, width): `length` numbers from `offset` on, at any keyframe. Exclusive or undoes itself. */
export class BitChain {
  constructor(array, width, offset, length) {
    this.array = array;
    this.width = width;
    this.offset = offset;
    this.length = length;
    this.bits = new Uint32Array(length);
    this.values = new Float32Array(this.bits.buffer);
    this.keyframe = -1;
  }

  /** The numbers of a keyframe, in an array that the next call changes. */
  at(keyframe) {
    while (this.keyframe < keyframe) this.combine(++this.keyframe);
    while (this.keyframe > keyframe) this.combine(this.keyframe--);
    return this.values;
  }

  combine(keyframe) {
    const { array, bits, length } = this;
    const base = keyframe * this.width + this.offset;
    for (let k = 0; k < length; k += 1) bits[k] ^= array[base + k];
  }
}
