import type { IncomingMessage } from 'node:http'
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server'
import { Refusal } from '@gateway/api/refusal'
import type { Deps } from '../deps.ts'

// A page in a browser may have a host name that was turned to the address of this machine (DNS rebinding).
//   O1  A browser names the page's host in Origin: it has to be this machine, or one of the names that the operator
//       gave.
//   O2  A request that arrives on loopback as it was sent has to name this machine in Host. A proxy that passes a
//       request on says so by its own headers, and stands before us with a name that only its operator knows.

/** @throws Refusal `not_permitted` */
export function refuseRebinding({ mcpHosts }: Pick<Deps, 'mcpHosts'>, { headers, socket }: IncomingMessage): void {
  if (!validateOriginHeader(headers.origin, [...localhostAllowedOrigins(), ...mcpHosts]).ok) throw refusalOf('Origin')
  const direct = isLoopback(socket.localAddress) && !FORWARDED.some((name) => headers[name] !== undefined)
  if (direct && !validateHostHeader(headers.host, [...localhostAllowedHostnames(), ...mcpHosts]).ok)
    throw refusalOf('Host')
}

const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto']

function isLoopback(address: string | undefined): boolean {
  return address !== undefined && (address === '::1' || /^(::ffff:)?127\./.test(address))
}

function refusalOf(header: string): Refusal {
  return new Refusal(
    'not_permitted',
    `The header ${header} names a host that may not call MCP here.`,
    `Call from a program instead of a page, or ask the operator to add the host to MCP_HOSTS.`,
  )
}
