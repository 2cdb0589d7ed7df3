import { useState, type FormEvent } from 'react'
import { useMutation } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { ask } from '../api/ask.ts'
import { useMe } from '../api/session.ts'
import { Screen } from '../frame/screen.tsx'
import { Copyable } from '../components/copying.tsx'
import { EmptyState } from '../components/list-states.tsx'
import { RefusalBox } from '../components/refusal-box.tsx'
import { TextField } from '../components/fields.tsx'
import { addressOfCode, type CommandLineView } from './command-line-view.ts'
import { readScopes, userScopes } from '@gateway/api/console/scopes'
import { DEFAULT_DAYS, TokenDays } from '../settings/tokens-section.tsx'

/** Asks the user to give the command line a personal token (decision 20). */
export function CommandLineScreen() {
  const view = useSearch({ from: '/account/command-line' })
  return (
    <Screen title="Sign in the command line">
      {view.done ? (
        <EmptyState title="The command line is signed in" action={<Link to="/account">View tokens</Link>}>
          You can close this page. Its token is one of your personal tokens, and is deleted by{' '}
          <code>gateway logout</code> or there. Keys made with it end too.
        </EmptyState>
      ) : view.challenge === undefined ? (
        <EmptyState title="Incomplete link" action={<Link to="/">Go to projects</Link>}>
          Run <code>gateway login</code> again and open the full link it prints.
        </EmptyState>
      ) : (
        <Confirm {...view} challenge={view.challenge} />
      )}
    </Screen>
  )
}

function Confirm(view: CommandLineView & { challenge: string }) {
  const { email, platformOperator } = useMe()
  const [isReadOnly, setReadOnly] = useState(false)
  const [isOperator, setOperator] = useState(false)
  const [name, setName] = useState(view.name ?? '')
  const [days, setDays] = useState(DEFAULT_DAYS)
  const confirm = useMutation({
    mutationFn: () => {
      const scopes = [...(isReadOnly ? readScopes : userScopes), ...(isOperator ? (['operator'] as const) : [])]
      const body = { challenge: view.challenge, name, scopes, expiresInDays: Number(days) }
      return ask('POST', '/api/v2/me/sign-in-codes', { params: {}, body })
    },
    onSuccess: ({ code }) => {
      const address = addressOfCode(view, code)
      if (address !== null) location.assign(address)
    },
  })
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    confirm.mutate()
  }
  if (confirm.data)
    return (
      <section className="card stack" aria-label="Code">
        <p>
          {view.port === undefined
            ? 'Paste this code into the terminal in which you typed gateway login.'
            : 'The command line has been notified. If nothing happens, paste this code into its terminal.'}{' '}
          Single use. Expires in five minutes. Don't share it.
        </p>
        <Copyable text={confirm.data.code} label="Copy code" />
      </section>
    )
  return (
    <form className="card stack" aria-label="Sign in the command line" onSubmit={onSubmit}>
      <p>The command line receives a personal token that can do what you can in this console, as {email}.</p>
      <p className="notice">
        Confirm only if you just ran <code>gateway login</code> yourself.
      </p>
      <div className="pair">
        <TextField
          label="Token name"
          hint="For example, the name of this machine."
          required
          maxLength={100}
          value={name}
          onChange={setName}
        />
        <TokenDays days={days} onChange={setDays} />
      </div>
      <label className="choice">
        <input type="checkbox" checked={isReadOnly} onChange={({ target }) => setReadOnly(target.checked)} />
        <span>Read only</span>
      </label>
      {platformOperator && (
        <label className="choice">
          <input type="checkbox" checked={isOperator} onChange={({ target }) => setOperator(target.checked)} />
          <span>Act as a platform operator</span>
        </label>
      )}
      <RefusalBox error={confirm.error} />
      <div className="buttons">
        <button type="submit" className="button main" disabled={confirm.isPending}>
          Authorize
        </button>
        <Link to="/" className="button">
          Cancel
        </Link>
      </div>
    </form>
  )
}
