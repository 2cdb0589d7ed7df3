import type { RefusalCode } from '@gateway/api/refusal'
import { type RefusalRow, refusals, type RefusalType, typeOf } from '@gateway/api/refusals'
import type { DocsPage } from './page-layout.ts'

// One page per error code, from its row and its section in docs/refusals.md, which is generated from the row too.

export function isRefusalCode(code: string): code is RefusalCode {
  return Object.hasOwn(refusals, code)
}

export function addressOfRefusal(code: RefusalCode): string {
  return `/docs/refusals/${code}`
}

/**
 * Returns `/docs/refusals`, which lists every code by status, and a page per code.
 * @param markdown docs/refusals.md
 * @throws Error if it lacks a code
 */
export function refusalPages(markdown: string): [index: DocsPage, ...DocsPage[]] {
  const [preamble = '', ...sections] = markdown.split(/^## /m)
  const said = new Map(sections.map((section) => [section.slice(0, section.indexOf('\n')), section]))
  const pages = [...said.keys()].filter(isRefusalCode).map((code) => pageOf(code, said.get(code)!))
  const missing = Object.keys(refusals).filter((code) => !said.has(code))
  if (missing.length > 0) throw new Error(`docs/refusals.md lacks ${missing.join(', ')}: run npm run documents`)
  return [{ address: '/docs/refusals', title: 'Refusals', markdown: preamble + listOf([...said.keys()]) }, ...pages]
}

function listOf(codes: string[]): string {
  const byStatus = Map.groupBy(codes.filter(isRefusalCode), (code) => refusals[code].status)
  const chapters = [...byStatus].map(([status, ofStatus]) => {
    const items = ofStatus.map((code) => `- [\`${code}\`](${addressOfRefusal(code)})\n`)
    return `## ${status}\n\n${items.join('')}`
  })
  return chapters.join('\n')
}

/** @param section of docs/refusals.md: code, status, and each message with its resolution */
function pageOf(code: RefusalCode, section: string): DocsPage {
  const row = refusals[code]
  const [, , ...paragraphs] = section.trim().split('\n\n')
  const written = paragraphs.map((text) =>
    text.startsWith('How to fix it:') ? text.replace('How to fix it:', '**How to fix it:**') : text,
  )
  const [message = ''] = paragraphs
  const resolution = /How to fix it:\s+(?:- )?(.+)/.exec(section)?.[1] ?? ''
  const example = {
    error: { code, type: typeOf(row), param: null, message: plain(message), resolution: plain(resolution) },
  }
  const markdown = `# ${code}

HTTP status **${row.status}**, \`${typeOf(row)}\`. What is in braces is said by the facts of the case.

## What it says

${written.join('\n\n')}

## Who clears it

${remediation(code)}

## Does repeating help?

${repeating(row)}

## The answer

\`\`\`json
${JSON.stringify(example, null, 2)}
\`\`\`

All codes are at [refusals](/docs/refusals).
`
  return { address: addressOfRefusal(code), title: code, markdown }
}

function repeating({ status, retryAfterMs }: RefusalRow): string {
  if (retryAfterMs !== undefined)
    return 'Yes: send the same request again after the seconds that `Retry-After` says, with the same `Idempotency-Key` where it had one.'
  if (status >= 500)
    return 'It may, where the answer is without `x-should-retry: false`. Keep the `Idempotency-Key`, so that nothing is charged twice.'
  return 'No: the answer would be the same until what it names is cleared. It carries `x-should-retry: false`, so stock clients do not repeat it.'
}

/** Removes Markdown escapes, for JSON. */
function plain(markdown: string): string {
  return markdown.replaceAll('\\<', '<')
}

// Who can clear a refusal, in one sentence: by type, with exceptions by code.

const flowAuthor = 'Anyone who draws the flow: a Project Owner or Project Consumer.'
const admin = 'An Admin of the organization, or a Project Owner.'
const keyIssuer = 'Anyone who may issue keys of the project, in the console.'
const time = 'No one has to: it passes by itself.'
const platformOperator = 'The platform operator. Tell them the `X-Request-Id` of the answer.'

const byType: Record<RefusalType, string> = {
  invalid_request_error: 'Anyone who writes the request.',
  authentication_error: 'Anyone who holds the key, token or password.',
  permission_error: admin,
  not_found_error: 'Anyone who writes the request.',
  conflict_error: 'Anyone who sent the request, once they have read what has changed.',
  insufficient_funds_error: 'The platform operator, who funds projects; or anyone who calls, by asking for less.',
  rate_limit_error: time,
  api_error: platformOperator,
}

const byCode: Partial<Record<RefusalCode, string>> = {
  key_revoked: keyIssuer,
  key_expired: keyIssuer,
  key_paused:
    'The creator of the key, a Project Owner or an Admin, if they may issue keys of the project, in the console.',
  key_unbound: keyIssuer,
  key_scope: keyIssuer,
  key_limit: keyIssuer,
  ceiling_reached: 'Anyone who invokes the flow, with a higher `maxMicro` or none.',
  budget_reached: 'An Admin of the organization, who sets its budgets.',
  project_mismatch: 'Anyone who writes the request.',
  tag_mismatch: 'Anyone who writes the request.',
  idempotency_in_progress: time,
  graph_invalid: flowAuthor,
  node_failed: flowAuthor,
  expression_failed: flowAuthor,
  value_too_large: flowAuthor,
  output_too_large: flowAuthor,
  output_missing: flowAuthor,
  execution_timeout: flowAuthor,
  execution_cancelled: 'No one: someone stopped it. Anyone who wants it begins a new one.',
  overloaded: time,
  unavailable: time,
  activation_failed: time,
}

function remediation(code: RefusalCode): string {
  return byCode[code] ?? byType[typeOf(refusals[code])]
}
