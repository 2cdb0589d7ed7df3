import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { reading } from '../api/reading.ts'
import { useScope } from '../api/use-project.ts'
import { Icon } from '../components/icon.tsx'
import { Money } from '../components/money.tsx'

const EVERY_MS = 15_000

/** Available balance of the project, on all of its screens. */
export function WalletChip() {
  const params = useScope()
  const { data } = useQuery({
    ...reading('/api/v2/tenants/{tenant}/projects/{project}/wallet', { params }),
    refetchInterval: EVERY_MS,
    enabled: params.project !== '',
  })
  if (!data) return null
  return (
    <Link to="/projects/$tenant/$project" params={params} className="wallet-chip">
      <Icon name="wallet" />
      <Money micro={data.availableMicro} />
      <span className="visually-hidden">available</span>
    </Link>
  )
}
