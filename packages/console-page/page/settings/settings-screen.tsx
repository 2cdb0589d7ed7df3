import { useState, type FormEvent } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { readingAll, reading, useChange } from '../api/queries.ts'
import { useProject, useScope, useMyRoles } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { Facts, Moment } from '../components/values.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { Loaded, Waiting } from '../components/list-states.tsx'
import { DeleteProjectDialog } from './delete-project-dialog.tsx'
import type { QuotaName, QuotaRecords } from '@gateway/api/quotas'
import { sizeOf } from '../assets/asset-labels.ts'
import { DataTable, type Column } from '../components/data-table.tsx'
import { count } from '../components/usd.ts'
import { CaptureSection } from './capture-section.tsx'
import { TokensSection, type TokenScope } from './tokens-section.tsx'
import type { BodyOf } from '@gateway/api/api-route'
import type { ConsoleRoutes } from '@gateway/api/console-routes'
import { ask } from '../api/ask.ts'
import type { ProjectRecord } from '@gateway/api/console/projects'
import { useDraft } from '../components/draft.ts'
import { draftOfRates, type RateDraft, ratesOfDraft, ratesText, RateFields } from '../keys/rate-fields.tsx'
import { TextField } from '../components/fields.tsx'
import { FormDialog } from '../components/dialog.tsx'

/** Project details, asset retention, rate limits, prompt capture, key rotation, quotas, service tokens and deletion. */
export function SettingsScreen() {
  const { tenant } = useScope()
  const { isAdmin, isOwner, hasGrant } = useMyRoles()
  const { data: project, error } = useProject()
  const teams = useQuery(readingAll('/api/v2/tenants/{tenant}/teams', { params: { tenant } }))
  const [isDeleting, setDeleting] = useState(false)
  const navigate = useNavigate()
  const team = teams.data?.find((each) => each.id === project?.team)
  return (
    <Screen title="Settings" of={project?.name ?? 'Project'}>
      <RefusalBox error={error} />
      {project === undefined && !error && <Waiting what="settings" />}
      {project === null && <p className="notice">Project not found, or you don't have access to it.</p>}
      {project && (
        <>
          <section className="card stack" aria-label="Project">
            <Facts
              of={[
                ['Name', project.name],
                ['Team', team?.name ?? project.team],
                ['Created', <Moment iso={project.createdAt} to="day" />],
                ['Project ID', <code>{project.id}</code>],
              ]}
            />
          </section>
          <RetentionForm key={project.id} project={project} isOwner={isOwner} />
          <RatesForm key={`rates of ${project.id}`} project={project} isOwner={isOwner} />
          <CaptureSection capture={project.capture} isOwner={isOwner} />
          <KeyRotationForm key={`rotation of ${project.id}`} project={project} isOwner={isOwner} />
          {hasGrant && <QuotaTable />}
          {isOwner ? (
            <ProjectTokens />
          ) : (
            <p className="soft">Only a Project Owner can create service tokens and change settings.</p>
          )}
          {isAdmin && (
            <section className="card stack" aria-label="Delete project">
              <h2>Delete project</h2>
              <p className="soft">Permanently deletes the project with its keys, flows and tokens.</p>
              <div className="buttons">
                <button type="button" className="button danger" onClick={() => setDeleting(true)}>
                  Delete project
                </button>
              </div>
            </section>
          )}
          {isDeleting && (
            <DeleteProjectDialog
              of={project}
              onDeleted={() =>
                navigate({ to: '/organizations/$tenant/projects', params: { tenant }, ignoreBlocker: true })
              }
              onClose={() => setDeleting(false)}
            />
          )}
        </>
      )}
    </Screen>
  )
}

type Quota = QuotaRecords['quotas'][number]

const labels: Record<QuotaName, string> = {
  assetBytes: 'Size of assets',
  assets: 'Assets',
  executionBytes: 'Size of executions',
  flows: 'Flows',
  revisions: 'Saved revisions',
  keys: 'Active keys',
  tokens: 'Service tokens',
  webhooks: 'Alert destinations',
}

const shown = ({ quota }: Quota, value: number) => (quota.endsWith('Bytes') ? sizeOf(value) : count(value))

const columns: Column<Quota>[] = [
  { head: 'Stored', cell: ({ quota }) => labels[quota] },
  { head: 'Used', cell: (each) => shown(each, each.used) },
  { head: 'Quota', cell: (each) => shown(each, each.limit) },
]

/** What the project stores and may store. */
function QuotaTable() {
  const path = '/api/v2/tenants/{tenant}/projects/{project}/quotas'
  const stored = useQuery(reading(path, { params: useScope() }))
  return (
    <section className="card stack" aria-label="Quotas">
      <h2>Quotas</h2>
      <p className="soft">Ask the platform operator for a higher quota.</p>
      <Loaded of={stored} what="quotas">
        {({ quotas }) => <DataTable caption="Quotas" columns={columns} rows={quotas} keyOf={({ quota }) => quota} />}
      </Loaded>
    </section>
  )
}

/** Service tokens of the project. Rendered for Project Owners only. */
function ProjectTokens() {
  return (
    <TokensSection
      title="Service tokens"
      of={useProjectTokens()}
      text="Tokens let scripts act in this project with the permissions you pick. They can't grant access to others. To call models, use an API key."
    />
  )
}

type Permission = BodyOf<ConsoleRoutes['createProjectToken']>['permissions'][number]

const permissions: Record<Permission, string> = {
  'projects.read': 'View the project',
  'projects.change': 'Change asset retention',
  'assignments.read': 'View product assignments',
  'grants.read': 'View roles',
  'keys.manage': 'View and revoke keys',
  'usage.read': 'Read usage and calls',
  'wallet.read': 'Read the wallet',
  'sandboxes.use': 'Read, edit and run flows (spends from the wallet)',
}

/** Service tokens of the project in the URL. */
function useProjectTokens(): TokenScope {
  const params = useScope()
  const path = '/api/v2/tenants/{tenant}/projects/{project}/tokens'
  const { data, error } = useQuery(readingAll(path, { params }))
  return {
    tokens: data,
    error,
    label: 'Permissions',
    permissions,
    create: (token, idempotencyKey) =>
      ask('POST', path, { params, body: { ...token, permissions: token.permissions as Permission[] }, idempotencyKey }),
    remove: (token) => ask('DELETE', `${path}/{token}`, { params: { ...params, token } }),
  }
}

/** Whether keys of the project may rotate themselves. */
function KeyRotationForm({
  project: { keySelfRotation: before },
  isOwner,
}: {
  project: ProjectRecord
  isOwner: boolean
}) {
  const params = useScope()
  const [chosen, setChosen] = useDraft(String(before))
  const isAllowed = chosen === 'true'
  const change = useChange(
    () => ask('PATCH', '/api/v2/tenants/{tenant}/projects/{project}', { params, body: { keySelfRotation: isAllowed } }),
    'Key rotation saved.',
  )
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate(undefined)
  }
  return (
    <section className="card stack" aria-label="Key rotation">
      <h2>Key rotation</h2>
      {isOwner ? (
        <form className="stack" onSubmit={onSubmit}>
          <label className="choice">
            <input type="checkbox" checked={isAllowed} onChange={({ target }) => setChosen(String(target.checked))} />
            Keys can rotate themselves
          </label>
          <p className="soft small">
            A program can then replace the secret of its key, and so can a thief of the key. Every rotation raises an
            alert. Users can always rotate keys.
          </p>
          <RefusalBox error={change.error} />
          <div className="buttons">
            <button type="submit" className="button" disabled={change.isPending || isAllowed === before}>
              Save
            </button>
          </div>
        </form>
      ) : (
        <p>{before ? 'Keys can rotate themselves.' : "Keys can't rotate themselves."}</p>
      )}
    </section>
  )
}

/** Rate limits of all keys of the project together. */
function RatesForm({ project: { rates }, isOwner }: { project: ProjectRecord; isOwner: boolean }) {
  const params = useScope()
  const kept = draftOfRates(rates)
  const [requestsPerMinute, setRequests] = useDraft(kept.requestsPerMinute)
  const [tokensPerMinute, setTokens] = useDraft(kept.tokensPerMinute)
  const [concurrentCalls, setConcurrent] = useDraft(kept.concurrentCalls)
  const draft = { requestsPerMinute, tokensPerMinute, concurrentCalls }
  const asked = ratesOfDraft(draft)
  const onChange = (part: Partial<RateDraft>) => {
    if (part.requestsPerMinute !== undefined) setRequests(part.requestsPerMinute)
    if (part.tokensPerMinute !== undefined) setTokens(part.tokensPerMinute)
    if (part.concurrentCalls !== undefined) setConcurrent(part.concurrentCalls)
  }
  const change = useChange(
    () => ask('PATCH', '/api/v2/tenants/{tenant}/projects/{project}', { params, body: { rates: asked } }),
    'Rate limits saved.',
  )
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate(undefined)
  }
  return (
    <section className="card stack" aria-label="Rate limits">
      <h2>Rate limits</h2>
      {isOwner ? (
        <form className="stack" onSubmit={onSubmit}>
          <p className="soft">For all keys of the project together, in addition to the limits of each key.</p>
          <RateFields draft={draft} onChange={onChange} />
          <RefusalBox error={change.error} />
          <div className="buttons">
            <button
              type="submit"
              className="button"
              disabled={change.isPending || JSON.stringify(asked) === JSON.stringify(rates)}
            >
              Save
            </button>
          </div>
        </form>
      ) : (
        <p>{ratesText(rates) ?? 'No rate limits.'}</p>
      )}
    </section>
  )
}

/** Asset retention of the project. */
function RetentionForm({
  project: { assetRetentionDays: before },
  isOwner,
}: {
  project: ProjectRecord
  isOwner: boolean
}) {
  const params = useScope()
  const [days, setDays] = useDraft(before === null ? '' : String(before))
  const [isAsking, setAsking] = useState(false)
  const asked = days.trim() === '' ? null : Number(days)
  const deletesSome = asked !== null && (before === null || asked < before)
  const change = useChange(
    () => ask('PATCH', '/api/v2/tenants/{tenant}/projects/{project}', { params, body: { assetRetentionDays: asked } }),
    'Asset retention saved.',
  )
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (deletesSome) setAsking(true)
    else change.mutate(undefined)
  }
  return (
    <section className="card stack" aria-label="Assets">
      <h2>Assets</h2>
      {isOwner ? (
        <form className="stack" onSubmit={onSubmit}>
          <TextField
            label="Delete assets after (days)"
            hint="Leave empty to keep assets indefinitely. A shorter time deletes older assets."
            type="number"
            min={1}
            value={days}
            onChange={setDays}
          />
          {!isAsking && <RefusalBox error={change.error} />}
          <div className="buttons">
            <button type="submit" className="button" disabled={change.isPending || asked === before}>
              Save
            </button>
          </div>
        </form>
      ) : (
        <p>{before === null ? 'Assets are kept indefinitely.' : `Assets are deleted after ${before} days.`}</p>
      )}
      {isAsking && (
        <FormDialog
          title={`Delete assets older than ${asked} days?`}
          submit="Delete assets"
          isDanger
          change={change}
          onClose={() => setAsking(false)}
        >
          <p>
            Older assets are permanently deleted within minutes, and newer ones once they reach this age. Flows that
            reference them fail. This can't be undone.
          </p>
        </FormDialog>
      )}
    </section>
  )
}
