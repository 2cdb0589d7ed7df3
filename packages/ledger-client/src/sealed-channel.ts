import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type RawData, WebSocket } from 'ws'
import { channelLimits } from '@gateway/ledger-protocol/channels'
import { isFinalStatus, LedgerRejected } from './call-operation.ts'
import type { RequestSigner } from './service-token.ts'
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

// One channel to the ledger, for messages of lines. Its opening is signed (service-token.ts), and each message sealed
// (`sealsOf`).

export interface ChannelOptions {
  /** The ledger's base address. */
  url: string
  signer: RequestSigner
  connectMs: number
  /** A connection without traffic is probed after this time. */
  probeAfterMs: number
}

/** Why a channel has ended. */
export type ChannelEnd =
  /** The connection failed, was silent or was not used, or another opening may succeed. */
  { kind: 'cut' } | { kind: 'unauthorized' } | { kind: 'rejected'; error: LedgerRejected }

interface ChannelUser {
  /** Called with each line of the ledger. If it throws, the line is not one of the ledger, and the channel is cut. */
  receive(line: string): void
  /** Called once, unless the user closes the channel first. */
  end(how: ChannelEnd): void
  /** Whether no answer is awaited: an idle channel may be silent, and is closed after a while. */
  isIdle(): boolean
}

interface SealedChannel {
  /** Sends a message as soon as the channel is open. */
  send(message: string): void
  /** The user is no longer idle: from now on the ledger shows that it is alive, or the channel is cut. */
  expectAnswers(): void
  /** The user is idle again. */
  rest(): void
  /** Whether the ledger has accepted it. */
  wasOpen(): boolean
  close(): void
}

/** @param silentMs a channel without a sign of the ledger for this long is cut */
export function openSealedChannel(
  { url, signer, connectMs, probeAfterMs }: ChannelOptions,
  path: string,
  silentMs: number,
  user: ChannelUser,
): SealedChannel {
  const key = newChannelKey()
  const socketOptions: object = { keepAlive: true, keepAliveInitialDelay: probeAfterMs } // of net.connect
  const socket = new WebSocket(`${url.replace(/^http/, 'ws').replace(/\/+$/, '')}${path}`, {
    headers: { authorization: `Bearer ${signer.sign(path, key.publicKey)}`, [CHANNEL_KEY]: key.publicKey },
    perMessageDeflate: false,
    skipUTF8Validation: true,
    maxPayload: channelLimits.answerBytes,
    handshakeTimeout: connectMs,
    ...socketOptions,
  })
  let seals: Seals | null = null
  let unsent: string[] | null = [] // until it is open
  let closed = false
  let connection: Socket | null = null
  let bytesSeen = 0
  const silenceTimer = setTimeout(onSilence, silentMs)
  const idleTimer = setTimeout(() => user.isIdle() && end({ kind: 'cut' }), channelLimits.idleMs).unref()

  function onSilence(): void {
    if (user.isIdle()) return
    if (connection === null || connection.bytesRead === bytesSeen) return end({ kind: 'cut' })
    restartSilence() // a large message arrives
  }

  function restartSilence(): void {
    bytesSeen = connection?.bytesRead ?? 0
    silenceTimer.refresh()
  }

  function end(how: ChannelEnd): void {
    if (closed) return
    close()
    user.end(how)
  }

  function close(): void {
    closed = true
    clearTimeout(silenceTimer)
    clearTimeout(idleTimer)
    socket.terminate()
  }

  function receive(data: Buffer): void {
    restartSilence()
    try {
      for (const line of data.toString().split('\n')) if (line !== '' && !closed) user.receive(line)
    } catch {
      end({ kind: 'cut' })
    }
  }

  function send(message: string): void {
    if (unsent !== null) unsent.push(message)
    else socket.send(seals!.next(message) + message)
  }

  socket.on('upgrade', ({ headers, socket: own }: IncomingMessage) => {
    connection = own
    try {
      seals = key.agree(String(headers[CHANNEL_KEY]))
    } catch {
      end({ kind: 'cut' }) // not the ledger
    }
  })
  socket.on('open', () => {
    if (seals === null || unsent === null) return
    restartSilence()
    const messages = unsent
    unsent = null
    for (const message of messages) send(message)
  })
  socket.on('message', (data: RawData) => receive(data as Buffer))
  socket.on('unexpected-response', (_request, response) => void refusalOf(response, path).then(end))
  socket.on('error', () => {}) // `close` follows
  socket.on('close', () => end({ kind: 'cut' }))

  return {
    send,
    expectAnswers: restartSilence,
    rest: () => void idleTimer.refresh(),
    wasOpen: () => unsent === null,
    close,
  }
}

/** What a response other than 101 means for the user of the channel. */
async function refusalOf(response: IncomingMessage, path: string): Promise<ChannelEnd> {
  const { statusCode: status = 0 } = response
  if (status === 401) return { kind: 'unauthorized' }
  if (status === 404 || !isFinalStatus(status)) return { kind: 'cut' } // 404: a ledger of another release
  let text = ''
  try {
    for await (const chunk of response) if (text.length < MAX_ERROR_BYTES) text += String(chunk)
  } catch {
    return { kind: 'cut' }
  }
  return { kind: 'rejected', error: new LedgerRejected(path, status, text) }
}

const MAX_ERROR_BYTES = 4_096

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

interface ChannelKey {
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
