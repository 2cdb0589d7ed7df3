import type { IncomingMessage } from 'node:http'
import {
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server'
import { Refusal } from '@gateway/api/refusal'
import type { Deps } from '../deps.ts'

// DNS rebinding: a web page's host name can be made to resolve to this machine.
//   O1  A browser sends the page's host in Origin. It must be this machine or one of the operator's hosts.
//   O2  A direct request on loopback must name this machine in Host. A proxy identifies itself by forwarding headers,
//       and its public host name is known only to its operator.

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
