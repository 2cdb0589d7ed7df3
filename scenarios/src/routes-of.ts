// What an Express application really serves, read from its router: no list that could be forgotten.

interface Layer {
  rawPath: string | string[]
  name: string
  route?: { path: string | string[]; methods: Record<string, boolean | undefined> }
  handle: { stack?: unknown }
}

export interface Surface {
  /** Such as `GET /v1/models/*id`. */
  routes: string[]
  /** Paths below which something else answers, such as `/api/v2`. */
  mounts: string[]
}

/** All routes of an application; those that only say which method is allowed count as none. */
export function surfaceOf(app: unknown): Surface {
  const { stack } = (app as { router: { stack: Layer[] } }).router
  const surface: Surface = { routes: [], mounts: [] }
  for (const { route, rawPath, handle } of stack) {
    if (handle.stack !== undefined && route === undefined)
      throw new Error(`a router is mounted at ${String(rawPath)}: its routes would not be seen here`)
    if (route === undefined) surface.mounts.push(...[rawPath].flat().filter((path) => path !== '/'))
    else
      for (const path of [route.path].flat())
        for (const method of Object.keys(route.methods).filter((name) => name !== '_all'))
          surface.routes.push(`${method.toUpperCase()} ${path}`)
  }
  return surface
}

/**
 * Something that stands for any dependency while an application is built and never called: anything that is read from it or
 * called on it is again the same.
 */
export function neverAsked(): never {
  const anything: object = new Proxy(() => {}, {
    get: (_target, name) => (typeof name === 'symbol' ? undefined : anything),
    apply: () => anything,
    construct: () => anything,
  })
  return anything as never
}
