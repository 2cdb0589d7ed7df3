import { clientSettings } from '@gateway/flow/client-settings'
import { curlCode } from './curl-code.ts'
import { KEY_NAME, type ShownCode } from './shown-code.ts'
import { javaScript, sourceText } from './source-text.ts'

/** Code samples that run a flow: with streamed progress, as one response, and as an MCP tool. */
export function flowCode(
  baseUrl: string,
  { id, name }: { id: string; name: string },
  body: { input: object; maxMicro?: number },
): ShownCode[] {
  const address = `${baseUrl.replace(/\/+$/, '')}/v1/sandbox/${id}`
  const once = 'Idempotency-Key: $(uuidgen || cat /proc/sys/kernel/random/uuid)'
  const invoke = (accept: string, isStream: boolean) =>
    curlCode(`${address}/invoke`, body, { isStream, headers: [`Accept: ${accept}`, once] })
  const server = name.replaceAll(/[^\w]+/g, '-').toLowerCase()
  const settings = clientSettings({ name: server, address: `${address}/mcp`, topics: JSON.stringify(body.input) })
  return [
    { title: 'curl (streaming)', install: null, text: invoke('application/x-ndjson', true) },
    { title: 'curl (result only)', install: null, text: invoke('application/json', false) },
    { title: 'JavaScript', install: null, text: javaScriptCode(`${address}/invoke`, body) },
    ...settings.map(({ title, text }) => ({ title: `MCP: ${title}`, install: null, text })),
  ]
}

function javaScriptCode(url: string, body: object): string {
  return `const answer = await fetch('${url}', {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${process.env.${KEY_NAME}}\`,
    'Content-Type': 'application/json',
    'Idempotency-Key': crypto.randomUUID(),
  },
  body: JSON.stringify(${sourceText(body, javaScript, 1)}),
})
const execution = await answer.json()
console.log(execution)
`
}
