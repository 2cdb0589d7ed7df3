import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { CompactEncrypt, importJWK } from 'jose'
import type { Content, ContentName } from './content-keys.ts'

const pack = promisify(gzip)

/** Encrypts content for the console (E1 and E2 of content-keys.ts). Returns a compact JWE. */
export async function sealContent(publicKey: string, name: ContentName, content: Content): Promise<string> {
  const key = await importJWK({ kty: 'OKP', crv: 'X25519', x: publicKey }, 'ECDH-ES')
  const { project, invocation } = name
  return new CompactEncrypt(await pack(JSON.stringify(content)))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', project, invocation })
    .encrypt(key)
}
