# SPDX-License-Identifier: Apache-2.0
"""The longer hash functions: CityHash64 1.0.2, SpookyHash V2, and DES under the key of zeros."""
from hashes import M32, M64, le, mix128, rotl, rotr

K0, K1, K2, K3 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F, 0xC949D7C7509E6557


def sm(x):
    x &= M64
    return x ^ (x >> 47)


def city64(s):
    n = len(s)

    def f8(i):
        return le(s[i:i + 8])

    def f4(i):
        return le(s[i:i + 4])
    if n == 0:
        return K2
    if n <= 3:
        y, z = s[0] + (s[n // 2] << 8), n + (s[n - 1] << 2)
        return (sm(y * K2 ^ z * K3) * K2) & M64
    if n <= 8:
        return mix128(n + (f4(0) << 3), f4(n - 4))
    if n <= 16:
        a, b = f8(0), f8(n - 8)
        return mix128(a, rotr(b + n, n)) ^ b
    if n <= 32:
        a, b, c, d = f8(0) * K1, f8(8), f8(n - 8) * K2, f8(n - 16) * K0
        return mix128((rotr(a - b, 43) + rotr(c, 30) + d) & M64, (a + rotr(b ^ K3, 20) - c + n) & M64)
    if n <= 64:
        return city64_to_64(n, f8)
    return city64_long(n, f8)


def city64_to_64(n, f8):
    def half(z, a, third, fourth):
        b, c = rotr(a + z, 52), rotr(a, 37)
        a += third
        c += rotr(a, 7)
        a += fourth
        return a + z, b + rotr(a, 31) + c
    vf, vs = half(f8(24), f8(0) + (n + f8(n - 16)) * K0, f8(8), f8(16))
    wf, ws = half(f8(n - 8), f8(16) + f8(n - 32), f8(n - 24), f8(n - 16))
    r = sm((vf + ws) * K2 + (wf + vs) * K0)
    return (sm(r * K0 + vs) * K2) & M64


def city64_long(n, f8):
    def weak(i, a, b):
        w, x, y, z = f8(i), f8(i + 8), f8(i + 16), f8(i + 24)
        a += w
        b = rotr(b + a + z, 21)
        c = a
        a += x + y
        return (a + z) & M64, (b + rotr(a, 44) + c) & M64
    x, y, z = f8(0), f8(n - 16) ^ K1, f8(n - 56) ^ K0
    v, w = weak(n - 64, n, y), weak(n - 32, n * K1, K0)
    z = (z + sm(v[1]) * K1) & M64
    x = (rotr(z + x, 39) * K1) & M64
    y = (rotr(y, 33) * K1) & M64
    for i in range(0, (n - 1) & ~63, 64):
        x = (rotr(x + y + v[0] + f8(i + 16), 37) * K1) & M64
        y = (rotr(y + v[1] + f8(i + 48), 42) * K1) & M64
        x, y = x ^ w[1], y ^ v[0]
        z = rotr(z ^ w[0], 33)
        v = weak(i, v[1] * K1, x + w[0])
        w = weak(i + 32, z + w[1], y)
        z, x = x, z
    return mix128((mix128(v[0], w[0]) + sm(y) * K1 + z) & M64, (mix128(v[1], w[1]) + x) & M64)


SPOOKY = 0xDEADBEEFDEADBEEF


def spooky32(data, seed):
    return (spooky_short(data, seed) if len(data) < 192 else spooky_long(data, seed)) & M32


def spooky_short(data, seed):
    h = [seed, seed, SPOOKY, SPOOKY]

    def mix():
        for i, r in enumerate((50, 52, 30, 41, 54, 48, 38, 37, 62, 34, 5, 36)):
            a, b, c = (i + 2) % 4, (i + 3) % 4, i % 4
            h[a] = (rotl(h[a], r) + h[b]) & M64
            h[c] ^= h[a]
    n, at = len(data), 0
    while n > 15 and n - at >= 16:
        h[2] = (h[2] + le(data[at:at + 8])) & M64
        h[3] = (h[3] + le(data[at + 8:at + 16])) & M64
        mix()
        if n - at >= 32:
            h[0] = (h[0] + le(data[at + 16:at + 24])) & M64
            h[1] = (h[1] + le(data[at + 24:at + 32])) & M64
            at += 32
        else:
            at += 16
    h[3] += n << 56
    if at < n:
        h[2] += le(data[at:at + 8])
        h[3] += le(data[at + 8:])
    else:
        h[2] += SPOOKY
        h[3] += SPOOKY
    h[2], h[3] = h[2] & M64, h[3] & M64
    for i, r in enumerate((15, 52, 26, 51, 28, 9, 47, 54, 32, 25, 63)):
        a, b = (i + 3) % 4, (i + 2) % 4
        h[a] ^= h[b]
        h[b] = rotl(h[b], r)
        h[a] = (h[a] + h[b]) & M64
    return h[0]


def spooky_long(data, seed):
    h = [seed, seed, SPOOKY] * 4
    whole = len(data) // 96 * 96
    for at in range(0, whole, 96):
        for i, r in enumerate((11, 32, 43, 31, 17, 28, 39, 57, 55, 54, 22, 46)):
            p = (i + 11) % 12
            h[i] = (h[i] + le(data[at + 8 * i:at + 8 * i + 8])) & M64
            h[(i + 2) % 12] ^= h[(i + 10) % 12]
            h[p] ^= h[i]
            h[i] = rotl(h[i], r)
            h[p] = (h[p] + h[(i + 1) % 12]) & M64
    rest = data[whole:]
    last = rest + bytes(95 - len(rest)) + bytes([len(rest)])
    h = [(x + le(last[8 * i:8 * i + 8])) & M64 for i, x in enumerate(h)]
    for _ in range(3):
        for i, r in enumerate((44, 15, 34, 21, 38, 33, 10, 13, 38, 53, 42, 54)):
            p, q = (i + 11) % 12, (i + 1) % 12
            h[p] = (h[p] + h[q]) & M64
            h[(i + 2) % 12] ^= h[p]
            h[q] = rotl(h[q], r)
    return h[0]


# The S-boxes, a digit an entry.
BOXES = (
    "E4D12FB83A6C59070F74E2D1A6CB953841E8D62BFC973A50FC8249175B3EA06D",
    "F18E6B34972DC05A3D47F28EC01A69B50E7BA4D158C6932FD8A13F42B67C05E9",
    "A09E63F51DC7B428D709346A285ECBF1D6498F30B12C5AE71AD069874FE3B52C",
    "7DE3069A1285BC4FD8B56F03472C1AE9A690CB7DF13E52843F06A1D8945BC72E",
    "2C417AB6853FD0E9EB2C47D150FA3986421BAD78F9C5630EB8C71E2D6F09A453",
    "C1AF92680D34E75BAF427C9561DE0B389EF528C3704A1DB6432C95FABE17608D",
    "4B2EF08D3C975A61D0B7491AE35C2F8614BDC37EAF6805926BD814A7950FE23C",
    "D2846FB1A93E50C71FD8A374C56B0E927B419CE206ADF35821E74A8DFC90356B",
)
P_BOX = (16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25)


def des_zero(value):
    """DES of a 64-bit number under eight bytes of zero: every round key is zero, so none is made."""
    bits = [(value >> (63 - i)) & 1 for i in range(64)]
    start = [57 - 8 * (i % 8) + 2 * (i // 8) - (0 if i < 32 else 9) for i in range(64)]
    bits = [bits[i] for i in start]
    left, right = bits[:32], bits[32:]
    for _ in range(16):
        out = []
        for box in range(8):
            six = [right[(4 * box - 1 + i) % 32] for i in range(6)]
            row, column = 2 * six[0] + six[5], int("".join(map(str, six[1:5])), 2)
            four = int(BOXES[box][16 * row + column], 16)
            out += [(four >> (3 - i)) & 1 for i in range(4)]
        left, right = right, [x ^ out[p - 1] for x, p in zip(left, P_BOX)]
    done = [0] * 64
    for i, x in zip(start, right + left):
        done[i] = x
    return int("".join(map(str, done)), 2)
