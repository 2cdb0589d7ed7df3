import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { BudgetRecord } from '@gateway/api/console/budgets'
import { ask } from '../api/ask.ts'
import { readingAll, useChange } from '../api/queries.ts'
import { useScope } from '../api/session.ts'
import type { Column } from '../components/data-table.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { Field, TextField } from '../components/fields.tsx'
import { RowActions } from '../components/row-actions.tsx'
import { Select } from '../components/select.tsx'
import { inUsd, microOf, usd } from '../components/usd.ts'
import { Badge, Money } from '../components/values.tsx'
import { WindowBar } from '../keys/window-bar.tsx'
import { UserField } from '../users/user-fields.tsx'
import { ListScreen, useMembers, useOrganization, useTeams } from './list-screen.tsx'

type Kind = BudgetRecord['kind']

/** Monthly budgets of the organization's users, teams and tags. */
export function BudgetsScreen() {
  const { tenant, name } = useOrganization()
  const [chosen, setChosen] = useState<{ action: 'Change' | 'Remove'; budget: BudgetRecord | null } | null>(null)
  const budgets = useQuery(readingAll('/api/v2/tenants/{tenant}/budgets', { params: { tenant } }))
  const nameOf = useSubjectNames()
  const columns: Column<BudgetRecord>[] = [
    {
      head: 'Budget of',
      cell: (budget) => (
        <>
          {nameOf(budget)}
          <div className="soft small">{kindLabels[budget.kind]}</div>
        </>
      ),
      sortBy: nameOf,
      csv: nameOf,
    },
    {
      head: 'Beyond it',
      cell: ({ hard }) => (hard ? 'Calls are refused' : 'Alert only'),
      csv: ({ hard }) => (hard ? 'refused' : 'alert'),
    },
    {
      head: 'Spent this month',
      cell: ({ limitMicro, spentMicro, reservedMicro, resetsAt }) => (
        <WindowBar
          limit={{ micro: limitMicro, reset: 'monthly' }}
          window={{
            spentMicro,
            reservedMicro,
            remainingMicro: Math.max(0, limitMicro - spentMicro - reservedMicro),
            startsAt: null,
            resetsAt,
          }}
        />
      ),
      sortBy: ({ spentMicro, limitMicro }) => spentMicro / limitMicro,
      csv: ({ spentMicro }) => inUsd(spentMicro),
    },
    {
      head: 'State',
      cell: ({ spentMicro, limitMicro }) =>
        spentMicro >= limitMicro * NEARLY && (
          <Badge
            tone={spentMicro >= limitMicro ? 'bad' : 'warn'}
            text={spentMicro >= limitMicro ? 'Reached' : 'Over 80%'}
          />
        ),
    },
    {
      head: 'Actions',
      cell: (budget) => (
        <RowActions
          acts={['Change', 'Remove']}
          of={nameOf(budget)}
          onChoose={(action) => setChosen({ action, budget })}
        />
      ),
    },
  ]
  const close = () => setChosen(null)
  return (
    <ListScreen
      title="Budgets"
      of={name}
      actions={
        <button type="button" className="button main" onClick={() => setChosen({ action: 'Change', budget: null })}>
          Set budget
        </button>
      }
      list={budgets}
      columns={columns}
      keyOf={({ id }) => id}
      name="budgets"
      searchBy={nameOf}
      empty={{
        title: 'No budgets yet',
        text: 'A monthly budget covers the calls of a user, a team or a tag in all projects. It refuses calls beyond it, or only alerts.',
      }}
    >
      {chosen?.action === 'Change' && (
        <BudgetDialog of={chosen.budget} budgets={budgets.data ?? []} nameOf={nameOf} onClose={close} />
      )}
      {chosen?.action === 'Remove' && <RemoveBudgetDialog of={chosen.budget!} nameOf={nameOf} onClose={close} />}
    </ListScreen>
  )
}

/** Share of a budget from which it stands out. */
const NEARLY = 0.8

const kindLabels: Record<Kind, string> = { user: 'User', team: 'Team', tag: 'Tag' }

type NameOf = (of: Pick<BudgetRecord, 'kind' | 'subject'>) => string

function useSubjectNames(): NameOf {
  const members = useMembers().data ?? []
  const teams = useTeams().data ?? []
  const names = new Map([...members, ...teams].map(({ id, name }) => [id, name]))
  return ({ kind, subject }) => names.get(subject) ?? (kind === 'tag' ? subject : `A deleted ${kind}`)
}

interface OfBudget {
  of: BudgetRecord | null
  nameOf: NameOf
  onClose: () => void
}

/** Sets a budget, or changes one. Its subject is fixed. */
function BudgetDialog({ of, budgets, nameOf, onClose }: OfBudget & { budgets: readonly BudgetRecord[] }) {
  const { tenant } = useScope()
  const members = useMembers().data ?? []
  const teams = useTeams().data ?? []
  const [kind, setKind] = useState<Kind>(of?.kind ?? 'team')
  const [subject, setSubject] = useState(of?.subject ?? '')
  const [limit, setLimit] = useState(of ? String(inUsd(of.limitMicro)) : '')
  const [hard, setHard] = useState(of?.hard ?? true)
  const [isTried, setTried] = useState(false)
  const limitMicro = microOf(limit)
  const replaced = of === null ? budgets.find((one) => one.kind === kind && one.subject === subject) : undefined
  const existing = of ?? replaced
  const counts = existing ? `Keeps the ${usd(existing.spentMicro)} counted this month` : 'Counts calls from now on'
  const set = useChange(
    () =>
      ask('PUT', '/api/v2/tenants/{tenant}/budgets', {
        params: { tenant },
        body: { kind, subject, limitMicro: limitMicro ?? 0, hard },
      }),
    `Budget of ${nameOf({ kind, subject })} set.`,
  )
  return (
    <FormDialog
      title={of ? `Change the budget of ${nameOf(of)}` : 'Set budget'}
      submit={replaced ? 'Replace budget' : 'Set budget'}
      change={set}
      isFaulty={!limitMicro}
      onTry={() => setTried(true)}
      onClose={onClose}
    >
      {of === null && (
        <>
          <Field label="Budget of a">
            {(ids) => (
              <Select
                {...ids}
                value={kind}
                options={Object.entries(kindLabels) as [Kind, string][]}
                onChange={(next) => {
                  setKind(next)
                  setSubject('')
                }}
              />
            )}
          </Field>
          {kind === 'user' && <UserField label="User" users={members} value={subject} onChange={setSubject} />}
          {kind === 'team' && (
            <Field label="Team">
              {(ids) => (
                <Select
                  {...ids}
                  required
                  value={subject || null}
                  placeholder="Select a team"
                  options={teams.map(({ id, name }) => [id, name] as const)}
                  onChange={setSubject}
                />
              )}
            </Field>
          )}
          {kind === 'tag' && (
            <TextField
              label="Tag"
              hint="As calls name it in X-Service-Tag, or as their key has it."
              required
              maxLength={64}
              value={subject}
              onChange={setSubject}
            />
          )}
        </>
      )}
      {replaced && (
        <p className="notice">
          {nameOf(replaced)} has a budget of <Money micro={replaced.limitMicro} />
          {replaced.hard ? ', beyond which calls are refused' : ', which only alerts'}. This one replaces it.
        </p>
      )}
      <TextField
        label="Monthly limit (USD)"
        hint={`${counts}. A month begins on the first, midnight UTC.`}
        required
        inputMode="decimal"
        fault={isTried && limit !== '' && !limitMicro ? 'Enter an amount such as 5 or 0.25.' : null}
        value={limit}
        onChange={setLimit}
      />
      {existing && limitMicro !== null && limitMicro > 0 && limitMicro <= existing.spentMicro && (
        <p className="notice" role="status">
          This limit is already reached{hard && ': calls are refused until the month ends'}.
        </p>
      )}
      <label className="choice">
        <input type="checkbox" checked={hard} onChange={({ target }) => setHard(target.checked)} />
        <span>
          Refuse calls beyond it
          <span className="soft"> (otherwise alert at 80 and 100 percent only)</span>
        </span>
      </label>
    </FormDialog>
  )
}

/** Confirms removing a budget. */
function RemoveBudgetDialog({ of, nameOf, onClose }: OfBudget & { of: BudgetRecord }) {
  const { tenant } = useScope()
  const remove = useChange(
    () => ask('DELETE', '/api/v2/tenants/{tenant}/budgets/{budget}', { params: { tenant, budget: of.id } }),
    `Budget of ${nameOf(of)} removed.`,
  )
  return (
    <FormDialog
      title={`Remove the budget of ${nameOf(of)}?`}
      submit="Remove budget"
      isDanger
      change={remove}
      onClose={onClose}
    >
      <p>
        <Money micro={of.spentMicro} /> were spent this month. Calls are no longer counted; a budget set again later
        starts at zero.
      </p>
    </FormDialog>
  )
}
