import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { ask } from '../api/ask.ts'
import { reading, useChange } from '../api/queries.ts'
import { CodeField, TextField } from '../components/fields.tsx'
import { Copyable } from '../components/copying.tsx'
import { Dialog, FormDialog, ShownOnceGuard } from '../components/dialog.tsx'
import { Moment } from '../components/values.tsx'
import { Loaded } from '../components/list-states.tsx'
import { generate } from 'lean-qr'
import { toSvgPath } from 'lean-qr/extras/svg'

type Act = 'set up' | 'recovery codes' | 'remove'

/** The authenticator app of the user, with its recovery codes. */
export function SecondFactorSection() {
  const secondFactor = useQuery(reading('/api/v2/me/second-factor', { params: {} }))
  const [act, setAct] = useState<Act | null>(null)
  const [codes, setCodes] = useState<string[] | null>(null)
  const onClose = () => setAct(null)
  const onCodes = ({ recoveryCodes }: { recoveryCodes: string[] }) => {
    setAct(null)
    setCodes(recoveryCodes)
  }
  return (
    <section className="card stack" aria-label="Two-factor authentication">
      <h2>Two-factor authentication</h2>
      <Loaded of={secondFactor} what="your second factor">
        {({ confirmedAt, recoveryCodesLeft }) =>
          confirmedAt === null ? (
            <>
              <p className="soft">
                Protect your account with a code from an authenticator app. An organization can require it.
              </p>
              <div className="buttons">
                <button type="button" className="button main" onClick={() => setAct('set up')}>
                  Set up authenticator app
                </button>
              </div>
            </>
          ) : (
            <>
              <p>
                Authenticator app on since <Moment iso={confirmedAt} to="day" isExact />. Unused recovery codes:{' '}
                {recoveryCodesLeft}.
              </p>
              <div className="buttons">
                <button type="button" className="button" onClick={() => setAct('recovery codes')}>
                  Replace recovery codes
                </button>
                <button type="button" className="button danger" onClick={() => setAct('remove')}>
                  Remove authenticator app
                </button>
              </div>
            </>
          )
        }
      </Loaded>
      {act === 'set up' && <SetUpDialog onDone={onCodes} onClose={onClose} />}
      {act === 'recovery codes' && <ReplaceCodesDialog onDone={onCodes} onClose={onClose} />}
      {act === 'remove' && <RemoveDialog onClose={onClose} />}
      {codes && <RecoveryCodesDialog codes={codes} onClose={() => setCodes(null)} />}
    </section>
  )
}

type OnCodes = (made: { recoveryCodes: string[] }) => void

/** First the password, then the QR code and the first code. */
function SetUpDialog({ onDone, onClose }: { onDone: OnCodes; onClose: () => void }) {
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const setUp = useChange(
    () => ask('POST', '/api/v2/me/second-factor', { params: {}, body: { ...(password !== '' && { password }) } }),
    'Scan the QR code with your authenticator app.',
    [],
  )
  const confirm = useChange(
    () => ask('POST', '/api/v2/me/second-factor/confirm', { params: {}, body: { code } }),
    'Authenticator app on. Store your recovery codes.',
  )
  if (!setUp.data)
    return (
      <FormDialog title="Set up authenticator app" submit="Continue" change={setUp} onDone={() => {}} onClose={onClose}>
        <TextField
          label="Current password"
          hint="Leave empty if you sign in with single sign-on only."
          type="password"
          autoComplete="current-password"
          maxLength={256}
          value={password}
          onChange={setPassword}
        />
      </FormDialog>
    )
  const { secret, uri } = setUp.data
  return (
    <FormDialog
      title="Set up authenticator app"
      submit="Turn on"
      stays
      isReady={code !== ''}
      change={confirm}
      onDone={onDone}
      onClose={onClose}
    >
      <p>Scan this QR code with your authenticator app, or type the secret into it.</p>
      <QrCode text={uri} label="QR code for your authenticator app" />
      <Copyable text={secret} label="Copy secret" />
      <CodeField label="Code from the app" code={code} onChange={setCode} />
      <p className="soft small">Your other sessions are signed out.</p>
    </FormDialog>
  )
}

function ReplaceCodesDialog({ onDone, onClose }: { onDone: OnCodes; onClose: () => void }) {
  const [code, setCode] = useState('')
  const replace = useChange(
    () => ask('POST', '/api/v2/me/second-factor/recovery-codes', { params: {}, body: { code } }),
    'Recovery codes replaced.',
  )
  return (
    <FormDialog
      title="Replace recovery codes?"
      submit="Replace recovery codes"
      change={replace}
      onDone={onDone}
      onClose={onClose}
    >
      <p>Your current recovery codes stop working.</p>
      <CodeField label="Code" hint="From your authenticator app, or a recovery code." code={code} onChange={setCode} />
    </FormDialog>
  )
}

function RemoveDialog({ onClose }: { onClose: () => void }) {
  const [code, setCode] = useState('')
  const remove = useChange(
    () => ask('POST', '/api/v2/me/second-factor/remove', { params: {}, body: { code } }),
    'Authenticator app removed.',
  )
  return (
    <FormDialog
      title="Remove authenticator app?"
      submit="Remove authenticator app"
      isDanger
      change={remove}
      onClose={onClose}
    >
      <p>You lose access to organizations that require a second factor, until you set one up again.</p>
      <CodeField label="Code" hint="From your authenticator app, or a recovery code." code={code} onChange={setCode} />
    </FormDialog>
  )
}

function RecoveryCodesDialog({ codes, onClose }: { codes: string[]; onClose: () => void }) {
  return (
    <Dialog title="Recovery codes" stays onClose={onClose}>
      <p className="notice">
        Store these codes now: we can't show them again. Each one signs you in once if you lose your authenticator app.
      </p>
      <Copyable text={codes.join('\n')} label="Copy recovery codes" />
      <div className="buttons">
        <button type="button" className="button main" onClick={onClose}>
          I stored the codes
        </button>
      </div>
      <ShownOnceGuard />
    </Dialog>
  )
}

const QUIET_ZONE = 4

/** QR code, black on white in both schemes, because cameras read it that way. */
function QrCode({ text, label }: { text: string; label: string }) {
  const code = generate(text)
  const size = code.size + 2 * QUIET_ZONE
  return (
    <svg className="qr-code" role="img" aria-label={label} viewBox={`${-QUIET_ZONE} ${-QUIET_ZONE} ${size} ${size}`}>
      <path d={toSvgPath(code)} />
    </svg>
  )
}
