-- Every group is there, of this generation, and ready: Available, which the controller writes together with the
-- generation that it has seen (LeaderWorkerSet 0.9; older ones write none). Nothing in its status says "failed".
local hs = {status = "Progressing", message = "the controller has not seen it yet"}
local status, generation = obj.status, obj.metadata.generation

local function fresh(observed)
  return observed == nil or generation == nil or observed == generation
end

if status == nil or status.conditions == nil or not fresh(status.observedGeneration) then
  return hs
end

local replicas, partition = 1, 0
if obj.spec ~= nil then
  replicas = obj.spec.replicas or 1
  local rollout = obj.spec.rolloutStrategy
  if rollout ~= nil and rollout.rollingUpdateConfiguration ~= nil then
    partition = rollout.rollingUpdateConfiguration.partition or 0
  end
end
local ready, updated = status.readyReplicas or 0, status.updatedReplicas or 0
if ready > replicas then
  ready = replicas -- a rollout may have more groups than that for a while
end
local of = " of " .. replicas .. (replicas == 1 and " group" or " groups")

for _, condition in ipairs(status.conditions) do
  if condition.status == "True" and fresh(condition.observedGeneration) then
    if condition.type == "Available" then
      if partition > 0 and updated < replicas then
        hs.status = "Suspended"
        hs.message = updated .. of .. " updated; rolloutStrategy.partition " .. partition .. " holds the others"
      elseif replicas == 0 then
        hs.status, hs.message = "Healthy", "scaled to zero"
      else
        hs.status, hs.message = "Healthy", ready .. of .. " ready"
      end
      return hs
    elseif condition.type == "UpdateInProgress" then
      hs.message = "rollout: " .. updated .. of .. " updated, " .. ready .. " ready"
    elseif condition.type == "Progressing" then
      hs.message = ready .. of .. " ready"
    end
  end
end
return hs
