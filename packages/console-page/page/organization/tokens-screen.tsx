import { Screen } from '../frame/screen.tsx'
import { TokensSection } from '../settings/tokens-section.tsx'
import { useOrganization } from './use-organization.ts'
import { useTenantTokens } from './use-tenant-tokens.ts'

/** What programs of the organization work with. */
export function OrganizationTokensScreen() {
  return (
    <Screen title="Tokens" of={useOrganization().name}>
      <TokensSection
        title="Tokens for programs"
        of={useTenantTokens()}
        text="A program that sends one may do in the organization what the token lists, and nothing that hands out access. A token goes on when whoever made it leaves."
      />
    </Screen>
  )
}
