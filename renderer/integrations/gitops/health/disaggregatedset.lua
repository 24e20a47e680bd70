-- Every role has its replicas, ready and of this revision: Available, which the controller of LeaderWorkerSet 0.11 writes
-- together with the generation that it has seen. Older ones write no status at all, and nothing else of the object says
-- how its pods are: those of its LeaderWorkerSets do.
local hs = {status = "Progressing", message = "the controller has not seen it yet"}
local status, generation = obj.status, obj.metadata.generation

if status == nil or status.conditions == nil then
  hs.status = "Healthy"
  hs.message = "its controller says nothing; look at its LeaderWorkerSets"
  return hs
end

local function fresh(observed)
  return observed == nil or generation == nil or observed == generation
end

if not fresh(status.observedGeneration) then
  return hs
end

local parts = {}
for _, role in ipairs(status.roleStatuses or {}) do
  table.insert(parts, role.name .. " " .. (role.readyReplicas or 0) .. " of " .. (role.replicas or 0) .. " ready")
end
local roles = table.concat(parts, ", ")

for _, condition in ipairs(status.conditions) do
  if condition.status == "True" and fresh(condition.observedGeneration) then
    if condition.type == "Available" then
      hs.status, hs.message = "Healthy", roles
      return hs
    elseif condition.type == "Progressing" then
      hs.message = roles
    end
  end
end
return hs
