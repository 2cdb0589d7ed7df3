import type { Statement } from '@gateway/api/console/statement'
import { Copyable } from '../components/copyable.tsx'
import { Moment } from '../components/moment.tsx'
import { Money } from '../components/money.tsx'
import { count, several } from '../pure/usd.ts'

/** Reconciliation result of a statement, the last journal check and the seal. */
export function StatementProof({ of }: { of: Statement }) {
  return (
    <section className="stack" aria-label="Statement verification">
      {of.reconciled ? (
        <p>
          Wallet, journal, funding and corrections agree as of <Moment iso={of.asOf} to="second" />.
        </p>
      ) : (
        <div className="refusal" role="alert">
          <strong>The ledger does not reconcile for this month.</strong>
          <p>The operators have been notified. Don't rely on this statement until they resolve it.</p>
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
          "This wallet hasn't been checked against its journal yet."
        ) : (
          <>
            Verified against the journal up to entry {count(of.check.entry)} at <Moment iso={of.check.at} to="second" />
            :{' '}
            {of.check.findings === 0
              ? 'no findings.'
              : `${several(of.check.findings, 'finding')}, reported to the operators.`}
          </>
        )}
      </p>
      {of.seal !== null && (
        <p className="soft">
          Sealed at entry {count(of.seal.entry)}: <Copyable text={of.seal.sha256} label="Copy seal" />
        </p>
      )}
    </section>
  )
}
