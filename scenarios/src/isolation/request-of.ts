import type { Answer, Caller } from '../caller.ts'
import type { IdName, Ids } from './isolation-fixture.ts'

/** The request of a matrix row. */
export interface Asked {
  /** Resource that a path parameter names, if the parameter has a different name. */
  path?: Partial<Record<string, IdName>>
  /** @param fresh a text that no other request uses */
  body?: (ids: Ids, fresh: string) => object
  headers?: (ids: Ids) => Record<string, string>
}

/** Sends the request of a row, naming these resources. */
export async function send(caller: Caller, route: string, asked: Asked, ids: Ids, fresh: string): Promise<Answer> {
  const [method = '', pattern = ''] = route.split(' ')
  return caller.ask(method, pathOf(pattern, asked, ids), asked.body?.(ids, fresh), asked.headers?.(ids))
}

/** The path of a route, naming these resources. */
export function pathOf(pattern: string, asked: Asked, ids: Ids): string {
  return pattern.replaceAll(/[:*](\w+)/g, (_, name: string) => encodeURIComponent(idAt(asked, ids, name)))
}

/** Kinds of resources that a request names in its path, body or headers. */
export function namesIn(route: string, asked: Asked, ids: Ids): IdName[] {
  const names = new Set<IdName>()
  const watched = new Proxy(ids, {
    get(target, name: IdName) {
      names.add(name)
      return target[name]
    },
  })
  for (const [, name = ''] of route.matchAll(/[:*](\w+)/g)) idAt(asked, watched, name)
  asked.body?.(watched, '')
  asked.headers?.(watched)
  return [...names]
}

/** A revision number isn't an ID: every flow has a revision 1. */
function idAt({ path = {} }: Asked, ids: Ids, parameter: string): string {
  return parameter === 'number' ? '1' : ids[path[parameter] ?? (parameter as IdName)]
}

/** Everything that could tell two responses apart, with echoed IDs replaced. */
export function imprint({ status, headers, text }: Answer, ids: Ids): string {
  const kept = [...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')
  let all = [status, ...kept.map(([name, value]) => `${name}: ${value}`), text].join('\n')
  for (const [name, id] of Object.entries(ids)) all = all.replaceAll(id, `<${name}>`)
  return all
}
