import { Screen } from '../frame/screen.tsx'
import { TokensSection } from '../settings/tokens-section.tsx'
import { useOrganization } from './use-organization.ts'
import { useTenantTokens } from './use-tenant-tokens.ts'

/** Service tokens of the organization. */
export function OrganizationTokensScreen() {
  return (
    <Screen title="Service tokens" of={useOrganization().name}>
      <TokensSection
        title="Service tokens"
        of={useTenantTokens()}
        text="Tokens let scripts act in this organization with the permissions you pick. They can't grant access to others, and they keep working when their creator leaves. Tokens of projects are listed too; Project Owners create them."
      />
    </Screen>
  )
}
