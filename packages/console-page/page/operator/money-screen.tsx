import { useSearch } from '@tanstack/react-router'
import { EmptyState } from '../parts/empty-state.tsx'
import { OperatorScreen } from './operator-screen.tsx'
import { ProjectWallet } from './project-wallet.tsx'
import { WalletChoice } from './wallet-choice.tsx'
import './operator.css'

/** What comes into the wallet of a project, and what is put right in it. */
export function MoneyScreen() {
  const { tenant = '', project = '' } = useSearch({ from: '/operator/money' })
  return (
    <OperatorScreen title="Money">
      <WalletChoice tenant={tenant} project={project} />
      {tenant === '' || project === '' ? (
        <EmptyState title="No project is chosen">
          Choose an organization and one of its projects to fund its wallet or to put it right.
        </EmptyState>
      ) : (
        <ProjectWallet key={`${tenant} ${project}`} place={{ tenant, project }} />
      )}
    </OperatorScreen>
  )
}
