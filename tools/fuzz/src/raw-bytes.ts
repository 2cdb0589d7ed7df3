import type { FuzzRequest, RawFault } from './draft.ts'

/** The bytes of a request whose head or framing is broken. */
export function rawBytes({ method, path, headers, body }: FuzzRequest, fault: RawFault): Buffer {
  const length = `content-length: ${body?.length ?? 0}`
  const payload = body ?? Buffer.alloc(0)
  const own = headers.map(([name, value]) => `${name}: ${value}`)
  const head = (first: string, ...more: string[]) => `${[first, 'host: gateway', ...own, ...more].join('\r\n')}\r\n\r\n`
  const first = `${method} ${path} HTTP/1.1`
  const bytes = (text: string, rest: Buffer | string = payload) =>
    Buffer.concat([Buffer.from(text, 'latin1'), typeof rest === 'string' ? Buffer.from(rest, 'latin1') : rest])
  switch (fault) {
    case 'nul in a header':
      return bytes(head(first, 'x-strange: a\0b', length))
    case 'two lengths':
      return bytes(head(first, length, 'content-length: 3'))
    case 'length and chunks':
      return bytes(head(first, length, 'transfer-encoding: chunked'))
    case 'broken chunk':
      return bytes(head(first, 'transfer-encoding: chunked'), 'zz\r\n{}\r\n0\r\n\r\n')
    case 'endless chunk':
      return bytes(head(first, 'transfer-encoding: chunked'), 'ffffffffff\r\n{"a":')
    case 'negative length':
      return bytes(head(first, 'content-length: -1'))
    case 'huge length':
      return bytes(head(first, 'content-length: 99999999999999'))
    case 'no host':
      return bytes(`${[first, ...own, length].join('\r\n')}\r\n\r\n`)
    case 'http/1.0':
      return bytes(head(`${method} ${path} HTTP/1.0`, length))
    case 'unknown version':
      return bytes(head(`${method} ${path} HTTP/9.9`, length))
    case 'absolute address':
      return bytes(head(`${method} http://evil.example${path} HTTP/1.1`, length))
    case 'lowercase method':
      return bytes(head(`${method.toLowerCase()} ${path} HTTP/1.1`, length))
    case 'unknown method':
      return bytes(head(`STRANGE ${path} HTTP/1.1`, length))
    case 'folded header':
      return bytes(head(first, 'x-strange: a\r\n b', length))
    case 'header without colon':
      return bytes(head(first, 'strange', length))
    case 'space in the path':
      return bytes(head(`${method} ${path} a b HTTP/1.1`, length))
    case 'huge head':
      return bytes(head(first, `x-strange: ${'x'.repeat(100_000)}`, length))
    case 'only line feeds':
      return bytes(head(first, length).replaceAll('\r\n', '\n'))
    case 'bare bytes':
      return Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x0d, 0x0a, 0x0d, 0x0a])
    case 'websocket upgrade':
      return bytes(head(first, 'connection: upgrade', 'upgrade: websocket', length))
    case 'http/2 preface':
      return Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  }
}
