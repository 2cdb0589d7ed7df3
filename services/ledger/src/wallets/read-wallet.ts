import type { WalletAnswer } from '@gateway/contracts/ledger-reads'
import type { RequestOf } from '@gateway/contracts/ledger-operations'
import type { Deps } from '../deps.ts'

/** What a project has; a wallet that was never funded is zero. */
export async function readWallet(
  { reads }: Pick<Deps, 'reads'>,
  { project }: RequestOf<'wallet'>,
): Promise<WalletAnswer> {
  const wallet = await reads.prisma.wallet.findUnique({ where: { project } })
  const [funded, reserved, settled] = [wallet?.funded ?? 0n, wallet?.reserved ?? 0n, wallet?.settled ?? 0n]
  return {
    fundedMicro: Number(funded),
    reservedMicro: Number(reserved),
    settledMicro: Number(settled),
    availableMicro: Number(funded - reserved - settled),
  }
}
