import type { IncomingMessage } from 'node:http'
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server'
import { Refusal } from '@gateway/contracts/refusal'

// A page in somebody's browser may have a name that was turned to the address of this machine (DNS rebinding).
//   O1  A browser names the page in Origin: it has to be of this machine, or of the names that the operator gave.
//   O2  What arrives on loopback as it was sent has to name this machine in Host. A proxy that passes on the name under which it
//       was called says so by its own headers, and stands before us with a name that only its operator knows.

/** @throws Refusal `not_permitted` */
export type RefuseStrangers = (req: IncomingMessage) => void

/** @param hosts names under which pages of a browser may call, besides those of this machine */
export function strangerRefuser(hosts: string[]): RefuseStrangers {
  const origins = [...localhostAllowedOrigins(), ...hosts]
  const names = [...localhostAllowedHostnames(), ...hosts]
  return ({ headers, socket }) => {
    if (!validateOriginHeader(headers.origin, origins).ok) throw strange('Origin')
    const direct = isLoopback(socket.localAddress) && !FORWARDED.some((name) => headers[name] !== undefined)
    if (direct && !validateHostHeader(headers.host, names).ok) throw strange('Host')
  }
}

const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto']

function isLoopback(address: string | undefined): boolean {
  return address !== undefined && (address === '::1' || /^(::ffff:)?127\./.test(address))
}

function strange(header: string): Refusal {
  return new Refusal(
    'not_permitted',
    `The header ${header} names a host that may not call MCP here.`,
    `Call from a program instead of a page, or ask the operator to add the host to MCP_HOSTS.`,
  )
}
