import { z } from 'zod'

export const tenantRole = z.enum(['Admin', 'Member'])
export const teamRole = z.enum(['Team Owner', 'Team Member'])
export const projectRole = z.enum(['Project Owner', 'Project Consumer', 'Project Viewer'])
export type TenantRole = z.infer<typeof tenantRole>
export type TeamRole = z.infer<typeof teamRole>
export type ProjectRole = z.infer<typeof projectRole>
