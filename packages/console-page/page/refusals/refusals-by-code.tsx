import { Badge, Moment } from '../components/values.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { count } from '../components/usd.ts'
import type { RefusalGroup, LatestRefusal } from './refusal-groups.ts'
import { useState } from 'react'
import { Link } from '@tanstack/react-router'
import { useProjectRole, useMe, useScope, useKeyNames } from '../api/session.ts'
import { AssignDialog } from '../organization/assign-dialog.tsx'
import type { RefusalCode } from '@gateway/api/refusal'
import { CopyButton } from '../components/copying.tsx'

/** Error codes with their meaning and fix, and a link to the fix if the console has one. */
export function RefusalsByCode({ groups }: { groups: RefusalGroup[] }) {
  const columns: Column<RefusalGroup>[] = [
    { head: 'Code', cell: ({ group }) => <CodeLink code={group} />, sortBy: ({ group }) => group },
    {
      head: 'Count',
      cell: ({ count: times }) => <Badge tone="warn" text={count(times)} />,
      sortBy: ({ count: times }) => times,
    },
    { head: 'Last seen', cell: (group) => <LastTime of={group} /> },
    { head: 'Meaning', cell: ({ group }) => wordsOf(group).meaning },
    { head: 'How to fix', cell: ({ group }) => <Fix code={group} /> },
  ]
  return <DataTable caption="Errors by code" columns={columns} rows={groups} keyOf={({ group }) => group} />
}

export function LastTime({ of: { lastAt, isToTheHour } }: { of: RefusalGroup }) {
  return (
    <>
      {isToTheHour && <span className="soft">in the hour starting </span>}
      <Moment iso={lastAt} to={isToTheHour ? 'minute' : 'second'} isExact={isToTheHour} />
    </>
  )
}

/** Individual errors, newest first, with the request ID to look up in the logs. @param ofKey all are of one key */
export function NewestRefusals({ rows, ofKey = false }: { rows: LatestRefusal[]; ofKey?: boolean }) {
  const nameOf = useKeyNames(rows.map(({ key }) => key))
  const columns: Column<LatestRefusal>[] = [
    { head: 'Time', cell: ({ at }) => <Moment iso={at} to="second" /> },
    ...(ofKey ? [] : [{ head: 'Key', cell: ({ key }: LatestRefusal) => nameOf(key) }]),
    { head: 'Model', cell: ({ model }) => (model === null ? '–' : <code>{model}</code>) },
    {
      head: 'Error',
      cell: ({ status, code }) => (
        <>
          {status} <CodeLink code={code} />
        </>
      ),
    },
    {
      head: 'Request',
      cell: ({ requestId }) => (
        <>
          <code>{requestId}</code> <CopyButton text={requestId} label="Copy request ID" isSmall />
        </>
      ),
    },
  ]
  return <DataTable caption="Most recent errors" columns={columns} rows={rows} keyOf={({ requestId }) => requestId} />
}

/** Link to the documentation of an error code. */
function CodeLink({ code }: { code: string }) {
  return (
    <a href={`/docs/refusals/${code}`} target="_blank" rel="noreferrer">
      <code>{code}</code>
      <span className="visually-hidden"> (opens in a new tab)</span>
    </a>
  )
}

function Fix({ code }: { code: string }) {
  const { fix, remedy } = wordsOf(code)
  return (
    <div className="clearing">
      <span id={`refusal-${code}`}>{fix}</span>
      {remedy && <RemedyButton remedy={remedy} code={code} />}
    </div>
  )
}

/** Link to the fix of an error, or nothing if the user lacks the rights for it. */
function RemedyButton({ remedy, code }: { remedy: Remedy; code: string }) {
  const scope = useScope()
  const isAdmin = useMe().tenants.find(({ id }) => id === scope.tenant)?.role === 'Admin'
  const role = useProjectRole()
  const [isAssigning, setAssigning] = useState(false)
  const link = { params: scope, className: 'button small', 'aria-describedby': `refusal-${code}` }
  switch (remedy) {
    case 'assign':
      if (!isAdmin) return null
      return (
        <>
          <button type="button" className="button small" onClick={() => setAssigning(true)}>
            Assign model
          </button>
          {isAssigning && <AssignDialog onClose={() => setAssigning(false)} />}
        </>
      )
    case 'create-key':
      if (role !== 'Project Owner' && role !== 'Project Consumer') return null
      return (
        <Link to="/projects/$tenant/$project/keys" search={{ create: true }} {...link}>
          Create key
        </Link>
      )
    case 'keys':
      return (
        <Link to="/projects/$tenant/$project/keys" {...link}>
          View keys
        </Link>
      )
    case 'flows':
      if (role === 'Project Viewer') return null
      return (
        <Link to="/projects/$tenant/$project/flows" {...link}>
          View flows
        </Link>
      )
    case 'wallet':
      return (
        <Link to="/projects/$tenant/$project" {...link}>
          View wallet
        </Link>
      )
  }
}

/** Screen or dialog of the console that fixes an error. */
type Remedy = 'create-key' | 'keys' | 'assign' | 'wallet' | 'flows'

interface Words {
  meaning: string
  fix: string
  remedy?: Remedy
}

/** General meaning of each error code of a call with a key, and how to fix it. */
const words: Partial<Record<RefusalCode, Words>> = {
  invalid_json: { meaning: 'The body was not valid JSON.', fix: 'Send one JSON object, encoded as UTF-8.' },
  duplicate_header: { meaning: 'A header was sent twice.', fix: 'Send each header once.' },
  invalid_request: {
    meaning: 'A field was missing or invalid.',
    fix: 'Correct the field that the response names in param.',
  },
  idempotency_key_required: {
    meaning: 'The Idempotency-Key header was missing.',
    fix: 'Send a new key for each intended execution, and the same key for its retries.',
  },
  idempotency_key_invalid: {
    meaning: 'The Idempotency-Key was too short, too long or not plain ASCII.',
    fix: 'Send 8 to 128 visible ASCII characters, such as a UUID.',
  },
  idempotency_in_progress: {
    meaning: 'A call was repeated while the first one was still running.',
    fix: 'Retry after the time in Retry-After.',
  },
  idempotency_mismatch: {
    meaning: 'An Idempotency-Key was reused for a different request.',
    fix: 'Send a new key for each new request.',
  },
  answer_not_kept: {
    meaning: 'The response of the repeated call is not stored.',
    fix: 'Send a new Idempotency-Key, which makes a new call.',
  },
  key_revoked: {
    meaning: 'The key was revoked or rotated.',
    fix: 'Use its replacement or a new key.',
    remedy: 'create-key',
  },
  key_expired: { meaning: 'The key has expired.', fix: 'Create a new key for the caller.', remedy: 'create-key' },
  key_paused: {
    meaning: 'The key is paused.',
    fix: 'Resume the key on its page.',
    remedy: 'keys',
  },
  key_unbound: {
    meaning: 'The key was created before keys were bound to projects.',
    fix: 'Create a new key for the caller.',
    remedy: 'create-key',
  },
  key_issuer_denied: {
    meaning: 'The creator of the key can no longer issue keys.',
    fix: 'Restore their membership, team role and grant, or have someone with all three create a new key.',
    remedy: 'create-key',
  },
  rotation_forbidden: {
    meaning: 'A key tried to rotate itself, and the project does not allow that.',
    fix: 'Rotate the key in the console, or allow keys to rotate themselves in the project settings.',
    remedy: 'keys',
  },
  key_scope: {
    meaning: 'The key does not allow the requested model or flow.',
    fix: 'Call a product the key allows, or create a key that allows this one.',
    remedy: 'create-key',
  },
  key_limit: {
    meaning: "The call would exceed the key's spending limit.",
    fix: 'Wait for the limit to reset, make a smaller call, or create a key with a higher limit.',
    remedy: 'create-key',
  },
  budget_reached: {
    meaning: 'The call would exceed a monthly budget of its user, team or tag.',
    fix: 'Wait for the next month, make a smaller call, or ask an Admin of the organization to raise the budget.',
  },
  tag_mismatch: {
    meaning: "The request named a tag other than its key's.",
    fix: 'Omit X-Service-Tag, or use a key without a tag.',
    remedy: 'keys',
  },
  insufficient_budget: {
    meaning: "The call would exceed the project's wallet balance.",
    fix: 'Ask the platform operator to add funds, wait for running calls to settle, or request fewer tokens.',
    remedy: 'wallet',
  },
  ceiling_reached: {
    meaning: 'A call would exceed the max cost of its execution.',
    fix: 'Run it again with a higher max cost (maxMicro), or without one.',
  },
  project_mismatch: {
    meaning: "The request named a project other than its key's.",
    fix: 'Omit the project, or use a key of that project.',
    remedy: 'keys',
  },
  product_not_assigned: {
    meaning: "The project can't use this model at the moment.",
    fix: 'Ask an Admin to assign the model, or use another one.',
    remedy: 'assign',
  },
  model_not_found: {
    meaning: 'This project has no model with that name.',
    fix: 'Use an ID from GET /v1/models, or ask an Admin to assign the missing model.',
    remedy: 'assign',
  },
  sandbox_not_found: {
    meaning: 'The project has no flow with this ID.',
    fix: 'Use the ID of a flow in this project.',
    remedy: 'flows',
  },
  revision_not_active: {
    meaning: 'The revision is not active, or the flow is suspended.',
    fix: 'Activate a revision, or omit the revision.',
    remedy: 'flows',
  },
  mcp_disabled: {
    meaning: 'The flow is not exposed as an MCP server.',
    fix: 'Expose the flow as an MCP server.',
    remedy: 'flows',
  },
  sandbox_contract: {
    meaning: 'The flow does not have exactly one text input and one text output.',
    fix: 'Invoke it with an input object, or change its inputs and outputs.',
    remedy: 'flows',
  },
  input_type: {
    meaning: "The input did not match the flow's inputs.",
    fix: 'Send an input that matches its schema.',
    remedy: 'flows',
  },
  execution_not_found: { meaning: 'The execution does not exist.', fix: 'Check the ID.' },
  asset_not_found: { meaning: 'The asset does not exist.', fix: 'Check the ID, or upload the file.' },
  not_found: { meaning: 'Nothing exists at this path.', fix: 'Check the path and its IDs.' },
  request_too_large: { meaning: 'The body was too large.', fix: 'Send a smaller body.' },
  context_limit: {
    meaning: "Prompt and output exceed the model's context window.",
    fix: 'Shorten the messages, or lower max_tokens.',
  },
  quota_reached: {
    meaning: 'The project stores as much as it may.',
    fix: 'Delete what is no longer needed, or ask the operator for a higher quota.',
  },
  rate_limited: {
    meaning: 'Too many requests.',
    fix: 'Wait until the limit resets, and send requests less often. Retry-After is at most 30 seconds, even if the limit resets later. Without Retry-After, the call alone exceeds the limit: make it smaller.',
  },
  provider_failed: {
    meaning: 'The model did not return a response. Nothing was charged.',
    fix: 'Retry, or use another model.',
  },
  provider_timeout: {
    meaning: 'The model did not respond in time. Nothing was charged.',
    fix: 'Retry, or lower max_tokens.',
  },
  no_worker: { meaning: 'No worker was available in time.', fix: 'Retry after a few seconds.' },
  overloaded: { meaning: 'The service was at capacity.', fix: 'Retry after the time in Retry-After.' },
  unavailable: { meaning: 'Part of the service was unavailable.', fix: 'Retry after the time in Retry-After.' },
}

const others: Words = { meaning: 'The request was refused.', fix: 'See the documentation of the error code.' }

function wordsOf(code: string): Words {
  return words[code as RefusalCode] ?? others
}
