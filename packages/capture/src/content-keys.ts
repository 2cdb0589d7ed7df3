import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { compactDecrypt, CompactEncrypt, importJWK } from 'jose'
import type { CaptureRules } from '@gateway/ledger-protocol/captured-content'

// Captured content is encrypted where it arises, for the console alone (JWE, ECDH-ES over X25519, AES-256-GCM).
//   E1  Each project has a key pair, derived from CAPTURE_KEY. The services that capture have only the public key, so
//       neither they nor the ledger nor the database can read what was captured.
//   E2  Content opens only under the project and invocation it was sealed for, so a row copied elsewhere is useless.

export interface ContentKeys {
  /** X25519, as base64url. */
  publicKeyOf(project: string): string
  /** @throws Error if it was sealed with another key or for another call */
  open(name: ContentName, sealed: string): Promise<Content>
}

/** DER of an X25519 private key (RFC 8410), up to its 32 bytes. */
const PRIVATE_KEY_DER = Buffer.from('302e020100300506032b656e04220420', 'hex')
const pack = promisify(gzip)
const unpack = promisify(gunzip)

export function openContentKeys({ key, previousKey }: { key: string; previousKey: string | undefined }): ContentKeys {
  const secrets = [key, ...(previousKey === undefined ? [] : [previousKey])]

  return {
    publicKeyOf: (project) => createPublicKey(privateKeyOf(key, project)).export({ format: 'jwk' }).x!,
    async open({ project, invocation }, sealed) {
      for (const secret of secrets) {
        const opened = await compactDecrypt(sealed, privateKeyOf(secret, project)).catch(() => null)
        if (opened === null) continue
        const header = opened.protectedHeader as Partial<ContentName>
        if (header.project !== project || header.invocation !== invocation) break // E2
        return JSON.parse((await unpack(opened.plaintext)).toString()) as Content
      }
      throw new Error('captured content was sealed with another CAPTURE_KEY, or for another call')
    },
  }
}

/** E1 */
function privateKeyOf(secret: string, project: string): KeyObject {
  const seed = Buffer.from(hkdfSync('sha256', secret, '', `captured content of ${project}`, 32))
  return createPrivateKey({ key: Buffer.concat([PRIVATE_KEY_DER, seed]), format: 'der', type: 'pkcs8' })
}

/** What content is sealed for. */
export interface ContentName {
  project: string
  invocation: string
}

/** What is sealed. */
export interface Content {
  request: { messages: unknown[] } & Record<string, unknown>
  answer: unknown[] | null
  failure: string | null
  isCut: boolean
}

/** A call to capture. */
export interface CallContent extends ContentName {
  rules: CaptureRules
  /** The forwarded request, as JSON. */
  request: string
  /** The messages of the model, as JSON; null: none came. */
  answer: string | null
  failure: string | null
}

/** Encrypts content for the console (E1, E2). Returns a compact JWE. */
export async function sealContent(publicKey: string, name: ContentName, content: Content): Promise<string> {
  const key = await importJWK({ kty: 'OKP', crv: 'X25519', x: publicKey }, 'ECDH-ES')
  const { project, invocation } = name
  return new CompactEncrypt(await pack(JSON.stringify(content)))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', project, invocation })
    .encrypt(key)
}
