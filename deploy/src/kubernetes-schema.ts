import type { Manifest } from './render.ts'

interface ModelClass {
  prototype: { validate(): void }
}

/** Where the schemas of an API group are: those of Kubernetes itself, and those of what is added to a cluster. */
function moduleOf({ apiVersion, kind }: Manifest): string {
  const [group = ''] = apiVersion.split('/')
  if (group.endsWith('keda.sh')) return `@kubernetes-models/keda/${apiVersion}/${kind}`
  if (group === 'monitoring.coreos.com') return `@kubernetes-models/prometheus-operator/${apiVersion}/${kind}`
  return `kubernetes-models/${apiVersion}/${kind}`
}

/**
 * What the API server would find wrong with an object, with field validation `Strict`: wrong types, missing fields and, since
 * a misspelled field would else be dropped without a word, fields that no schema knows.
 */
export async function problemsOf(manifest: Manifest): Promise<string[]> {
  const name = `${manifest.kind} ${manifest.metadata.name}`
  const module = await import(moduleOf(manifest)).then(
    (found: Record<string, ModelClass>) => found,
    () => null,
  )
  const model = module?.[manifest.kind]
  if (model === undefined) return [`${name}: there is no schema of ${manifest.apiVersion} ${manifest.kind}`]
  const watched = readFieldsOf(manifest)
  try {
    model.prototype.validate.call(watched.value)
  } catch (error) {
    return [`${name}: ${error instanceof Error ? error.message : String(error)}`]
  }
  return watched.unread().map((field) => `${name}: ${field} is not a field that Kubernetes knows`)
}

/**
 * Watches which fields of a value are read. A compiled schema reads each field that it knows, and those of a map, so what
 * remains unread is unknown to it: schemas of Kubernetes don't say `additionalProperties: false`.
 */
function readFieldsOf<T extends object>(value: T): { value: T; unread: () => string[] } {
  const read = new Set<string>()

  function watch(inner: object, path: string): object {
    return new Proxy(inner, {
      get(target, name, receiver) {
        const found: unknown = Reflect.get(target, name, receiver)
        if (typeof name === 'symbol' || !Object.hasOwn(target, name)) return found
        const here = `${path}/${name}`
        read.add(here)
        return typeof found === 'object' && found !== null ? watch(found, here) : found
      },
    })
  }

  function unreadOf(inner: object, path: string): string[] {
    return Object.entries(inner).flatMap(([name, found]: [string, unknown]) => {
      const here = `${path}/${name}`
      if (!read.has(here)) return [here]
      return typeof found === 'object' && found !== null ? unreadOf(found, here) : []
    })
  }

  return { value: watch(value, '') as T, unread: () => unreadOf(value, '') }
}
