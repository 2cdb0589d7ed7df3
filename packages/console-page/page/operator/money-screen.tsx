import { useSearch } from '@tanstack/react-router'
import { EmptyState } from '../components/empty-state.tsx'
import { OperatorScreen } from './operator-screen.tsx'
import { ProjectWallet } from './project-wallet.tsx'
import { WalletChoice } from './wallet-choice.tsx'
import './operator.css'

/** Wallet of a project: add funds, adjust the balance, see its history. */
export function MoneyScreen() {
  const { tenant = '', project = '' } = useSearch({ from: '/operator/money' })
  return (
    <OperatorScreen title="Money">
      <WalletChoice tenant={tenant} project={project} />
      {tenant === '' || project === '' ? (
        <EmptyState title="No project selected">
          Select an organization and a project to add funds or adjust its balance.
        </EmptyState>
      ) : (
        <ProjectWallet key={`${tenant} ${project}`} scope={{ tenant, project }} />
      )}
    </OperatorScreen>
  )
}
