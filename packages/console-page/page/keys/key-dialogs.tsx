import { useState } from 'react'
import type { KeyRecord } from '@gateway/api/console/keys'
import { ask } from '../api/ask.ts'
import { useScope, useProducts } from '../api/session.ts'
import { FormDialog, Dialog } from '../components/dialog.tsx'
import { TextField, Field } from '../components/fields.tsx'
import { GraceField, Select } from '../components/select.tsx'
import { Moment, Badge, Money } from '../components/values.tsx'
import { useKeyChange } from './key-labels.ts'
import { KeySecretDialog } from './key-secret-dialog.tsx'
import { useMutation } from '@tanstack/react-query'
import { RefusalBox } from '../components/refusal-box.tsx'
import type { AdmissionCheck } from '@gateway/api/admission-check'

interface DialogProps {
  of: KeyRecord
  onClose: () => void
}

const dialogs = {
  Rename: RenameKeyDialog,
  Test: CheckKeyDialog,
  Pause: PauseKeyDialog,
  Resume: ResumeKeyDialog,
  Rotate: RotateKeyDialog,
  Revoke: RevokeKeyDialog,
}
export type KeyAction = keyof typeof dialogs

/** What the state of a key allows. Whether the user may do it is the API's decision (rules §6). */
export function keyActions(key: KeyRecord): readonly KeyAction[] {
  if (key.state === 'Active') return ['Test', 'Rename', 'Pause', 'Rotate', 'Revoke']
  if (key.state === 'Paused') return ['Test', 'Rename', 'Resume', 'Revoke']
  const mayHaveExecutions = key.state === 'Expired' || (key.state === 'Rotated' && key.graceUntil !== null)
  return mayHaveExecutions ? ['Rename', 'Revoke'] : ['Rename']
}

export function KeyDialog({ action, ...key }: DialogProps & { action: KeyAction }) {
  const Chosen = dialogs[action]
  return <Chosen {...key} />
}

function RenameKeyDialog({ of: { id, name }, onClose }: DialogProps) {
  const { tenant } = useScope()
  const [typed, setTyped] = useState(name)
  const rename = useKeyChange(
    () => ask('PATCH', '/api/v2/tenants/{tenant}/keys/{key}', { params: { tenant, key: id }, body: { name: typed } }),
    `Key renamed to ${typed}.`,
  )
  return (
    <FormDialog title={`Rename ${name}`} submit="Rename key" change={rename} onClose={onClose}>
      <TextField label="Name" required maxLength={100} value={typed} onChange={setTyped} />
    </FormDialog>
  )
}

/** Confirms pausing a key, and says what that stops. */
function PauseKeyDialog({ of: { id, name, prefix }, onClose }: DialogProps) {
  const { tenant } = useScope()
  const pause = useKeyChange(
    () => ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/pause', { params: { tenant, key: id } }),
    `Key ${name} paused.`,
  )
  return (
    <FormDialog title={`Pause ${name}?`} submit="Pause key" change={pause} onClose={onClose}>
      <p>
        All further calls with <code>{prefix}…</code> are refused until you resume the key, and its running executions
        fail at their next paid node.
      </p>
    </FormDialog>
  )
}

function ResumeKeyDialog({ of: { id, name, prefix }, onClose }: DialogProps) {
  const { tenant } = useScope()
  const resume = useKeyChange(
    () => ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/resume', { params: { tenant, key: id } }),
    `Key ${name} resumed.`,
  )
  return (
    <FormDialog title={`Resume ${name}?`} submit="Resume key" change={resume} onClose={onClose}>
      <p>
        Calls with <code>{prefix}…</code> are admitted again, within the key's limit.
      </p>
    </FormDialog>
  )
}

/** Replaces the secret of a key. The old secret can keep working for a grace period. */
function RotateKeyDialog({ of: { id, name }, onClose }: DialogProps) {
  const { tenant } = useScope()
  const [graceSeconds, setGraceSeconds] = useState(0)
  const rotate = useKeyChange(
    () =>
      ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/rotate', {
        params: { tenant, key: id },
        body: { graceSeconds },
      }),
    `New secret created for ${name}.`,
  )
  if (rotate.data) return <KeySecretDialog made={rotate.data} onClose={onClose} />
  return (
    <FormDialog title={`Rotate ${name}`} submit="Rotate key" change={rotate} onDone={() => {}} onClose={onClose}>
      <p>The replacement keeps the project, access, limit and lifetime, and shares its spending with the old key.</p>
      <GraceField label="Old secret stops working" seconds={graceSeconds} onChange={setGraceSeconds} />
    </FormDialog>
  )
}

/** Confirms revoking a key, which can't be undone. */
export function RevokeKeyDialog({ of: key, onClose }: DialogProps) {
  const { tenant } = useScope()
  const revoke = useKeyChange(
    () => ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/revoke', { params: { tenant, key: key.id } }),
    `Key ${key.name} revoked.`,
  )
  return (
    <FormDialog title={`Revoke ${key.name}?`} submit="Revoke key" isDanger change={revoke} onClose={onClose}>
      <p>
        All further calls with <code>{key.prefix}…</code> are refused, and its running executions fail at their next
        paid node. This can't be undone.{' '}
        {key.lastUsedAt ? (
          <>
            Last used <Moment iso={key.lastUsedAt} />.
          </>
        ) : (
          'Never used.'
        )}
      </p>
    </FormDialog>
  )
}

/** Checks whether a call would be admitted now and, if not, which rule refuses it. Nothing is reserved. */
function CheckKeyDialog({ of: { id, name }, onClose }: { of: KeyRecord; onClose: () => void }) {
  const { tenant } = useScope()
  const models = useProducts().products.filter(({ kind }) => kind === 'chat')
  const [chosen, setChosen] = useState('')
  const [maxTokens, setMaxTokens] = useState('')
  const model = chosen || (models[0]?.id ?? '')
  const check = useMutation({
    mutationFn: () =>
      ask('POST', '/api/v2/tenants/{tenant}/keys/{key}/check', {
        params: { tenant, key: id },
        body: { model, ...(maxTokens !== '' && { maxTokens: Number(maxTokens) }) },
      }),
  })
  return (
    <Dialog title={`Test ${name}`} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          check.mutate()
        }}
      >
        <div className="pair">
          <Field label="Model">
            {(ids) => (
              <Select
                {...ids}
                value={model || null}
                options={models.map((each) => [each.id, each.name])}
                onChange={(next) => {
                  setChosen(next)
                  check.reset()
                }}
              />
            )}
          </Field>
          <Field label="Max output tokens" hint="Leave empty for the model's default.">
            {(ids) => (
              <input
                {...ids}
                type="number"
                min={1}
                value={maxTokens}
                onChange={({ target }) => {
                  setMaxTokens(target.value)
                  check.reset()
                }}
              />
            )}
          </Field>
        </div>
        <RefusalBox error={check.error} />
        {check.data && <CheckOutcome check={check.data} />}
        <div className="buttons">
          <button type="submit" className="button main" disabled={check.isPending || model === ''}>
            Test
          </button>
          <button type="button" className="button" onClick={onClose}>
            Close
          </button>
        </div>
      </form>
    </Dialog>
  )
}

const outcomes = {
  pass: { text: 'Passed', tone: 'good' },
  fail: { text: 'Failed', tone: 'bad' },
  not_reached: { text: 'Not checked', tone: 'plain' },
} as const

const ruleLabels = {
  key: 'The key is active',
  binding: 'The key is bound to a project',
  issuer: "The key's creator can still issue keys",
  project: "The request's project is the key's project",
  model: 'The model is assigned to the project',
  allowlist: 'The key allows the model',
  request: 'The model supports the request',
  context: "The request fits the model's context window",
  limit: "The cost fits the key's limit",
  budget: 'The cost fits the monthly budgets',
  wallet: 'The cost fits the wallet balance',
} as const

/** The admission decision, rule by rule. */
function CheckOutcome({ check: { admitted, boundMicro, rules, refusal } }: { check: AdmissionCheck }) {
  return (
    <div className="stack" role="status">
      {admitted ? (
        <p>
          <strong>A call would be admitted.</strong>{' '}
          {boundMicro !== null && (
            <>
              It would reserve <Money micro={boundMicro} />, its maximum cost.
            </>
          )}
        </p>
      ) : (
        <div className="refusal">
          <strong>{refusal?.message}</strong>
          <p>{refusal?.resolution}</p>
        </div>
      )}
      <ul className="rules">
        {rules.map(({ rule, outcome }) => (
          <li key={rule} className="head">
            {ruleLabels[rule]} <Badge {...outcomes[outcome]} />
          </li>
        ))}
      </ul>
    </div>
  )
}
