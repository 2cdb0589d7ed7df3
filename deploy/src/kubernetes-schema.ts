import type { Manifest } from './render.ts'
import { readFieldsOf } from './read-fields.ts'

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
