import type { Statement } from '@gateway/api/console/statement'
import { Copyable } from '../parts/copyable.tsx'
import { Moment } from '../parts/moment.tsx'
import { Money } from '../parts/money.tsx'
import { count } from '../pure/usd.ts'

/** Whether the books agree about it, when they were checked, and what seals them. */
export function StatementProof({ of }: { of: Statement }) {
  return (
    <section className="stack" aria-label="The check of the statement">
      {of.reconciled ? (
        <p>
          Wallet, journal, fundings and corrections say the same, as of <Moment iso={of.asOf} to="second" />.
        </p>
      ) : (
        <div className="refusal" role="alert">
          <strong>The books do not agree about this month.</strong>
          <p>
            The operators of the gateway were told. Until they have cleared it, do not settle anything by this page.
          </p>
          <ul>
            {of.differences.map(({ what, expected, found }) => (
              <li key={what}>
                {what}: <Money micro={expected} /> expected, <Money micro={found} /> found
              </li>
            ))}
          </ul>
        </div>
      )}
      <p className="soft">
        {of.check === null ? (
          'This wallet was not checked against its journal yet.'
        ) : (
          <>
            Checked against the journal up to entry {count(of.check.entry)} at <Moment iso={of.check.at} to="second" />:{' '}
            {of.check.findings === 0 ? 'all adds up.' : `${of.check.findings} findings, which the operators were told.`}
          </>
        )}
      </p>
      {of.seal !== null && (
        <p className="soft">
          Sealed at entry {count(of.seal.entry)}: <Copyable text={of.seal.sha256} label="Copy the seal" />
        </p>
      )}
    </section>
  )
}
