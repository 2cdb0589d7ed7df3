import { useState, type FormEvent } from 'react'
import { useQuery } from '@tanstack/react-query'
import type { UserRecord } from '@gateway/api/console/users'
import { ask } from '../api/ask.ts'
import { reading, readingAll, useChange } from '../api/queries.ts'
import { useMe } from '../api/session.ts'
import { Badge, Moment } from '../components/values.tsx'
import { DataList } from '../components/data-list.tsx'
import { DataTable, type Column } from '../components/data-table.tsx'
import { FormDialog } from '../components/dialog.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { TextField } from '../components/fields.tsx'
import { Loaded } from '../components/list-states.tsx'
import { RowActions } from '../components/row-actions.tsx'
import { UserName } from '../users/user-fields.tsx'
import { OperatorScreen } from './operator-screen.tsx'

type Act = 'Disable' | 'Enable' | 'Make operator' | 'Remove operator' | 'Reset second factor'
interface Chosen {
  act: Act
  user: UserRecord
}

/** Platform operators, and any user by email. */
export function OperatorUsersScreen() {
  const { platformOperator } = useMe()
  const [chosen, setChosen] = useState<Chosen | null>(null)
  return (
    <OperatorScreen title="Users">
      {platformOperator && (
        <>
          <FindUser onChoose={setChosen} />
          <Operators onChoose={setChosen} />
        </>
      )}
      {chosen && <ActDialog of={chosen} onClose={() => setChosen(null)} />}
    </OperatorScreen>
  )
}

function FindUser({ onChoose }: { onChoose: (chosen: Chosen) => void }) {
  const [typed, setTyped] = useState('')
  const [email, setEmail] = useState('')
  const { data, error } = useQuery({
    ...reading('/api/v2/users', { params: {}, query: { email } }),
    enabled: email !== '',
  })
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    setEmail(typed)
  }
  return (
    <section className="card stack" aria-label="Find a user">
      <h2>Find a user</h2>
      <form className="stack" onSubmit={onSubmit}>
        <TextField label="Email" type="email" required maxLength={254} value={typed} onChange={setTyped} />
        <div className="buttons">
          <button type="submit" className="button">
            Find user
          </button>
        </div>
      </form>
      <RefusalBox error={error} />
      {email !== '' && data?.data.length === 0 && <p className="soft">No user has the email {email}.</p>}
      {email !== '' && data && data.data.length > 0 && (
        <DataTable caption="Found user" columns={columnsOf(onChoose)} rows={data.data} keyOf={({ id }) => id} />
      )}
    </section>
  )
}

function Operators({ onChoose }: { onChoose: (chosen: Chosen) => void }) {
  const operators = useQuery(readingAll('/api/v2/operators', { params: {} }))
  return (
    <section className="card stack" aria-label="Platform operators">
      <h2>Platform operators</h2>
      <p className="soft">Operators manage products, funds, organizations and users of the whole installation.</p>
      <Loaded of={operators} what="operators">
        {(rows) => (
          <DataList
            name="operators"
            caption="Platform operators"
            columns={columnsOf(onChoose)}
            rows={rows}
            keyOf={({ id }) => id}
            searchBy={({ name, email }) => `${name} ${email}`}
          />
        )}
      </Loaded>
    </section>
  )
}

function columnsOf(onChoose: (chosen: Chosen) => void): Column<UserRecord>[] {
  return [
    { head: 'User', cell: (user) => <UserName of={user} />, sortBy: ({ name }) => name, csv: ({ email }) => email },
    {
      head: 'State',
      cell: ({ disabledAt, emailVerified }) => (
        <>
          {disabledAt === null ? <Badge tone="good" text="Active" /> : <Badge tone="bad" text="Disabled" />}
          {!emailVerified && <Badge tone="warn" text="Email not verified" />}
        </>
      ),
      csv: ({ disabledAt }) => (disabledAt === null ? 'Active' : 'Disabled'),
    },
    { head: 'Second factor', cell: ({ secondFactor }) => (secondFactor ? 'On' : 'Off') },
    { head: 'Created', cell: ({ createdAt }) => <Moment iso={createdAt} to="day" /> },
    {
      head: 'Actions',
      cell: (user) => <RowActions acts={actsOf(user)} of={user.name} onChoose={(act) => onChoose({ act, user })} />,
    },
  ]
}

function actsOf({ platformOperator, disabledAt, secondFactor }: UserRecord): Act[] {
  return [
    disabledAt === null ? 'Disable' : 'Enable',
    platformOperator ? 'Remove operator' : 'Make operator',
    ...(secondFactor ? (['Reset second factor'] as const) : []),
  ]
}

const texts: Record<Act, { done: string; text: string; isDanger: boolean }> = {
  Disable: {
    done: 'disabled',
    text: 'Ends all their sessions and personal tokens, with what the tokens made, and stops the API keys that they created. They cannot sign in until you enable them.',
    isDanger: true,
  },
  Enable: { done: 'enabled', text: 'They can sign in again, and their API keys work again.', isDanger: false },
  'Make operator': {
    done: 'is now a platform operator',
    text: 'They can manage products, funds, organizations and users of the whole installation.',
    isDanger: false,
  },
  'Remove operator': {
    done: 'is no longer a platform operator',
    text: 'They keep their organizations and projects.',
    isDanger: true,
  },
  'Reset second factor': {
    done: 'has no second factor',
    text: 'For a user who lost their authenticator app and all recovery codes. Verify who asks. Ends all their sessions and personal tokens, with what the tokens made; they then sign in without a code.',
    isDanger: true,
  },
}

function ActDialog({ of: { act, user }, onClose }: { of: Chosen; onClose: () => void }) {
  const { done, text, isDanger } = texts[act]
  const change = useChange(() => perform(act, user), `${user.name} ${done}.`)
  return (
    <FormDialog title={`${act}: ${user.name}?`} submit={act} isDanger={isDanger} change={change} onClose={onClose}>
      <p>{text}</p>
      {act === 'Make operator' && !user.emailVerified && (
        <p className="notice">
          Nothing has verified that {user.email} belongs to this user: an Admin handed over their invitation. Have them
          sign in with single sign-on first or, if the service sends mail, reset the password by mail. Otherwise confirm
          in person who they are.
        </p>
      )}
    </FormDialog>
  )
}

function perform(act: Act, { id, emailVerified }: UserRecord): Promise<unknown> {
  const params = { user: id }
  switch (act) {
    case 'Disable':
      return ask('POST', '/api/v2/users/{user}/disable', { params })
    case 'Enable':
      return ask('POST', '/api/v2/users/{user}/enable', { params })
    case 'Make operator':
      return ask('POST', '/api/v2/operators', { params: {}, body: { user: id, emailVerified } })
    case 'Remove operator':
      return ask('DELETE', '/api/v2/operators/{user}', { params })
    case 'Reset second factor':
      return ask('DELETE', '/api/v2/users/{user}/second-factor', { params })
  }
}
