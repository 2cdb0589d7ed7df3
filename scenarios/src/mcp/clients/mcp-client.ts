/** How a program reaches a sandbox product over MCP. */
export interface Endpoint {
  url: URL
  /** The secret of an API key, or null for none. */
  key: string | null
}

export interface Block {
  type: string
  text?: string
  data?: string
  mimeType?: string
}

export interface ToolResult {
  isError: boolean
  content: Block[]
  structured: Record<string, unknown> | undefined
}

export interface ListedTool {
  name: string
  title?: string | undefined
  description?: string | undefined
  inputSchema: Record<string, unknown>
  outputSchema?: Record<string, unknown> | undefined
}

export interface CallOptions {
  /** null: without the header. */
  idempotencyKey: string | null
  onProgress?: (progress: number) => void
}

/** A client as its makers ship it. What it throws when it is refused contains what the service said, as far as it shows it. */
export interface McpClient {
  name: string
  list(endpoint: Endpoint): Promise<ListedTool[]>
  /** Calls the one tool. */
  call(endpoint: Endpoint, input: Record<string, unknown>, options: CallOptions): Promise<ToolResult>
}
