import type { CanvasNode } from '../core/canvas-model.ts'
import { setField } from '../core/node-commands.ts'
import { nodeOf } from '../core/node-keys.ts'
import { useSession } from '../session.ts'

type Params = Readonly<Record<string, unknown>>

/** Parameters of a node and a setter. undefined removes a parameter; removing the last one removes `params`. */
export function useParams({ key, node }: CanvasNode): [Params, (name: string, value: unknown) => void] {
  const { editor } = useSession()
  const set = (name: string, value: unknown) =>
    editor.change((graph) => {
      const { [name]: _, ...others } = paramsOf(nodeOf(graph, key)?.['params'])
      const params = value === undefined ? others : { ...paramsOf(nodeOf(graph, key)?.['params']), [name]: value }
      return setField(graph, key, 'params', Object.keys(params).length === 0 ? undefined : params)
    }, `${key} params ${name}`)
  return [paramsOf(node['params']), set]
}

function paramsOf(params: unknown): Params {
  return typeof params === 'object' && params !== null && !Array.isArray(params) ? (params as Params) : {}
}
