/** Address and credential of a sandbox product over MCP. */
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
  /** null omits the header. */
  idempotencyKey: string | null
  onProgress?: (progress: number) => void
}

/** An unmodified third-party client. The error of a refused call contains the refusal as far as the client exposes it. */
export interface McpClient {
  name: string
  list(endpoint: Endpoint): Promise<ListedTool[]>
  /** Calls the tool. */
  call(endpoint: Endpoint, input: Record<string, unknown>, options: CallOptions): Promise<ToolResult>
}
