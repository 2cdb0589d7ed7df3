import {
  createHmac,
  createPublicKey,
  createSecretKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto'

// The key of one channel. Both ends make a key pair for it and derive the same secret from their own private and
// the other's public key (X25519, HKDF-SHA256). The service signs its public key with the token that opens the channel.
//   K1  Each message of the service starts with its seal, an HMAC-SHA256 over its position in the channel and its bytes. So
//       no one between the two machines can add, change, repeat or reorder a message, as with a signature for each request
//       in a fraction of its time.
//   K2  Who captures the token can't use it: the seals need the private key, which never leaves the service.

/** Header of both public keys: of the request that opens a channel, and of its response. */
export const CHANNEL_KEY = 'x-channel-key'
/** Length of a seal, as base64url. */
export const SEAL_CHARACTERS = 43

export interface ChannelKey {
  /** Raw X25519 key, as base64url. */
  publicKey: string
  /**
   * Returns the seals of this channel.
   * @throws Error unless `other` is a public key
   */
  agree(other: string): Seals
}

export interface Seals {
  /** The seal of the next message. */
  next(message: string | Buffer): string
  /** Whether this is the seal of the next message. */
  verifies(seal: Buffer, message: Buffer): boolean
}

export function newChannelKey(): ChannelKey {
  const own = generateKeyPairSync('x25519')
  const publicKey = own.publicKey.export({ format: 'jwk' }).x!
  return {
    publicKey,
    agree(other) {
      const theirs = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: other }, format: 'jwk' })
      const shared = diffieHellman({ privateKey: own.privateKey, publicKey: theirs })
      const salt = [publicKey, other].toSorted().join(' ') // the same at both ends
      return sealsOf(createSecretKey(Buffer.from(hkdfSync('sha256', shared, salt, 'channel to the ledger', 32))))
    },
  }
}

/** @param secret a key object, because a Buffer would be turned into one for each seal, at four times the cost */
function sealsOf(secret: KeyObject): Seals {
  let position = 0
  const next = (message: string | Buffer) =>
    createHmac('sha256', secret).update(`${position++}\n`).update(message).digest('base64url')
  return {
    next,
    verifies(seal, message) {
      const expected = Buffer.from(next(message))
      return seal.length === expected.length && timingSafeEqual(seal, expected)
    },
  }
}
