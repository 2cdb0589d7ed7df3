import { setField } from '../core/node-commands.ts'
import { useSession } from '../session.ts'

/** Returns a setter for a field of a node. Typing without a pause is one history step. */
export function useField(key: string, field: string): (value: unknown) => void {
  const { editor } = useSession()
  return (value) => editor.change((graph) => setField(graph, key, field, value), `${key} ${field}`)
}
