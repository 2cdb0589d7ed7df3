import { useState } from 'react'
import { useQueryClient } from '@tanstack/react-query'
import type { CaptureSettings, HiddenKind } from '@gateway/api/console/capture'
import { ask } from '../api/ask.ts'
import { ChangedElsewhere, faultAt } from '../api/failed.ts'
import { useChange } from '../api/queries.ts'
import { readingProject, useScope } from '../api/session.ts'
import { FormDialog } from '../components/dialog.tsx'
import { changesOver, useDraft, useListDraft } from '../components/draft.ts'
import { Field, TextField } from '../components/fields.tsx'
import { several } from '../components/usd.ts'
import { Facts } from '../components/values.tsx'

const labels: Record<HiddenKind, string> = {
  email: 'Email addresses',
  phone: 'Phone numbers',
  card: 'Payment card numbers',
  iban: 'Bank account numbers (IBAN)',
  address: 'IP addresses',
}
const kinds = Object.keys(labels) as HiddenKind[]
const suggested: CaptureSettings = { retentionDays: 7, hide: kinds, patterns: [] }

/** Whether prompts and answers of the project are captured, and what is hidden in them. */
export function CaptureSection({ capture, isOwner }: { capture: CaptureSettings | null; isOwner: boolean }) {
  const [act, setAct] = useState<'change' | 'turn off' | null>(null)
  const onClose = () => setAct(null)
  return (
    <section className="card stack" aria-label="Prompt capture">
      <h2>Prompt capture</h2>
      {capture === null ? (
        <p>Prompts and answers of calls are not kept.</p>
      ) : (
        <>
          <p>Prompts and answers of chat calls and chat nodes are kept, encrypted.</p>
          <Facts
            of={[
              ['Deleted after', several(capture.retentionDays, 'day')],
              ['Hidden', ['Credentials', ...capture.hide.map((kind) => labels[kind])].join(', ')],
              ['Own patterns', capture.patterns.length === 0 ? null : <Patterns of={capture.patterns} />],
            ]}
          />
        </>
      )}
      <p className="soft small">
        Only users with the right “Captured content” read them, on the page of a call. A Project Owner gives it under
        Users, and each read is in the audit log.
      </p>
      {isOwner && (
        <div className="buttons">
          <button type="button" className="button" onClick={() => setAct('change')}>
            {capture === null ? 'Turn on capture' : 'Change'}
          </button>
          {capture !== null && (
            <button type="button" className="button danger" onClick={() => setAct('turn off')}>
              Turn off
            </button>
          )}
        </div>
      )}
      {act === 'change' && <CaptureDialog before={capture} onClose={onClose} />}
      {act === 'turn off' && <TurnOffDialog onClose={onClose} />}
    </section>
  )
}

function Patterns({ of }: { of: string[] }) {
  return of.map((pattern) => (
    <div key={pattern}>
      <code>{pattern}</code>
    </div>
  ))
}

/**
 * Changes how the project captures.
 * @param over capture as it is to be, over what is stored now
 * @param text said when it is done
 */
function useCaptureChange(over: (latest: CaptureSettings | null) => CaptureSettings | null, text: string) {
  const params = useScope()
  const client = useQueryClient()
  return useChange(async () => {
    const [latest] = await client.fetchQuery(readingProject(params.tenant, params.project))
    const body = { capture: over(latest?.capture ?? null) }
    return ask('PATCH', '/api/v2/tenants/{tenant}/projects/{project}', { params, body })
  }, text)
}

function CaptureDialog({ before, onClose }: { before: CaptureSettings | null; onClose: () => void }) {
  const start = before ?? suggested
  const [days, setDays] = useDraft(String(start.retentionDays))
  const [hide, setHide] = useListDraft(start.hide)
  const [text, setText] = useDraft(start.patterns.join('\n'))
  const patterns = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const ordered = (some: HiddenKind[]) => kinds.filter((kind) => some.includes(kind))
  const settings = { retentionDays: Number(days), hide: ordered(hide), patterns }
  const over = (latest: CaptureSettings | null) => {
    if ((latest === null) !== (before === null)) throw new ChangedElsewhere() // the dialog now shows which
    return latest && before ? changesOver(latest, { ...before, hide: ordered(before.hide) }, settings) : settings
  }
  const change = useCaptureChange(over, before === null ? 'Capture turned on.' : 'Capture changed.')
  const fault = patterns.map((_, n) => faultAt(change.error, `capture.patterns.${n}`)).find((each) => each !== null)
  const shortens = before !== null && settings.retentionDays < before.retentionDays
  return (
    <FormDialog
      title={before === null ? 'Turn on capture' : 'Change capture'}
      submit={before === null ? 'Turn on capture' : 'Save'}
      change={change}
      onClose={onClose}
    >
      <TextField
        label="Delete after (days)"
        type="number"
        required
        min={1}
        max={90}
        value={days}
        onChange={setDays}
        {...(shortens && { hint: 'Older content is deleted within a minute.' })}
      />
      <fieldset className="stack tight">
        <legend>Hide</legend>
        <label className="choice">
          <input type="checkbox" checked disabled />
          Credentials (always)
        </label>
        {kinds.map((kind) => (
          <label key={kind} className="choice">
            <input
              type="checkbox"
              checked={hide.includes(kind)}
              onChange={({ target }) => setHide(target.checked ? [...hide, kind] : hide.filter((one) => one !== kind))}
            />
            {labels[kind]}
          </label>
        ))}
      </fieldset>
      <Field
        label="Own patterns"
        hint="Regular expressions in RE2 syntax, one a line, such as CUST-[0-9]+. What they match is hidden."
        fault={fault ?? null}
      >
        {(ids) => (
          <textarea
            {...ids}
            rows={3}
            spellCheck={false}
            className="code"
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
        )}
      </Field>
      <p className="soft small">
        Binds from the next call. Images and files are never kept, and at most 65,536 characters of each prompt and
        answer.
      </p>
    </FormDialog>
  )
}

function TurnOffDialog({ onClose }: { onClose: () => void }) {
  return (
    <FormDialog
      title="Turn off capture?"
      submit="Turn off and delete"
      isDanger
      change={useCaptureChange(() => null, 'Capture turned off.')}
      onClose={onClose}
    >
      <p>All captured prompts and answers are deleted within a minute. This can't be undone.</p>
    </FormDialog>
  )
}
