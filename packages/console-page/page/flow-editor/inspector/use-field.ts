import { setField } from '../core/node-commands.ts'
import { useSession } from '../session.ts'

/** Writes a field of a node; what is typed into one field without a pause is undone as one. */
export function useField(key: string, field: string): (value: unknown) => void {
  const { editor } = useSession()
  return (value) => editor.change((graph) => setField(graph, key, field, value), `${key} ${field}`)
}
