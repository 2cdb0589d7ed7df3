import type { FunctionTool, ResponsesBody } from './responses-body.ts'

/** A tool as a chat request has it. */
export interface FlatTool {
  /** Its name there: tools in a namespace have the namespace in front. */
  flatName: string
  namespace?: string
  /** Where the body has it. */
  field: string
  tool: FunctionTool
}

export function flatTools({ tools = [] }: Pick<ResponsesBody, 'tools'>): FlatTool[] {
  return tools.flatMap((tool, n): FlatTool[] =>
    tool.type === 'namespace'
      ? tool.tools.map((inner, at) => ({
          flatName: flatNameOf(inner.name, tool.name),
          namespace: tool.name,
          field: `tools.${n}.tools.${at}`,
          tool: inner,
        }))
      : [{ flatName: tool.name, field: `tools.${n}`, tool }],
  )
}

export function flatNameOf(name: string, namespace: string | null | undefined): string {
  return namespace ? `${namespace}__${name}` : name
}
