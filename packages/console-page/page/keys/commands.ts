/** A first call, by client. Settings of agents are those of docs/coding-agents.md. */
export function firstCalls(baseUrl: string, secret: string, model: string | undefined): Record<string, string> {
  const of = [baseUrl, secret, model] as const
  const named = model === undefined ? {} : agentSettings(baseUrl, secret, model)
  return { curl: inShell(...of), Python: inPython(...of), TypeScript: inTypeScript(...of), ...named }
}

/** Escapes any model name. */
function inShell(baseUrl: string, secret: string, model: string | undefined): string {
  const key = `-H ${quoted(`Authorization: Bearer ${secret}`)}`
  if (model === undefined) return [`curl ${quoted(`${baseUrl}/v1/models`)}`, key].join(' \\\n  ')
  const body = { model, messages: [{ role: 'user', content: 'Say hello.' }] }
  return [
    `curl ${quoted(`${baseUrl}/v1/chat/completions`)}`,
    key,
    `-H 'Content-Type: application/json'`,
    `-d ${quoted(JSON.stringify(body))}`,
  ].join(' \\\n  ')
}

/** With the OpenAI library. */
function inPython(baseUrl: string, secret: string, model: string | undefined): string {
  return `from openai import OpenAI

client = OpenAI(base_url=${text(`${baseUrl}/v1`)}, api_key=${text(secret)})
answer = client.chat.completions.create(
    model=${text(model ?? 'MODEL')},
    messages=[{"role": "user", "content": "Say hello."}],
)
print(answer.choices[0].message.content)`
}

/** With the OpenAI library. */
function inTypeScript(baseUrl: string, secret: string, model: string | undefined): string {
  return `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: ${text(`${baseUrl}/v1`)}, apiKey: ${text(secret)} })
const answer = await client.chat.completions.create({
  model: ${text(model ?? 'MODEL')},
  messages: [{ role: 'user', content: 'Say hello.' }],
})
console.log(answer.choices[0]?.message.content)`
}

function agentSettings(baseUrl: string, secret: string, model: string) {
  return {
    'Claude Code': `export ANTHROPIC_BASE_URL=${quoted(baseUrl)}
export ANTHROPIC_API_KEY=${quoted(secret)}
export ANTHROPIC_SMALL_FAST_MODEL=${quoted(model)}
claude --model ${quoted(model)} --tools Bash,Read,Edit,Write,Glob,Grep`,
    Codex: `mkdir -p codex-home
cat > codex-home/config.toml <<'END'
model = ${text(model)}
model_provider = "gateway"
web_search = "disabled"

[model_providers.gateway]
name = "Gateway"
base_url = ${text(`${baseUrl}/v1`)}
env_key = "GATEWAY_KEY"
wire_api = "responses"
END
export GATEWAY_KEY=${quoted(secret)}
CODEX_HOME="$PWD/codex-home" codex`,
    Cursor: `Settings > Models > API Keys
  OpenAI API Key: ${secret}
  Override OpenAI Base URL: ${baseUrl}/v1
Settings > Models > Add model: ${model}

Cursor calls from its servers, so the address must be public.`,
  }
}

function text(value: string): string {
  return JSON.stringify(value)
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
