-- What the AI gateway's controller says of its own objects: Accepted (True), or in its place NotAccepted (False).
-- An accepted route has its AIServiceBackends, its grants and a Gateway, and no more: whether a listener takes it, a
-- Backend or a pool is there, stands in the HTTPRoute of its name.
local hs = {status = "Progressing", message = "the controller has not seen it yet"}
if obj.status == nil or obj.status.conditions == nil then
  return hs
end

local function fresh(condition)
  local observed, generation = condition.observedGeneration, obj.metadata.generation
  return observed == nil or generation == nil or observed == generation
end

for _, condition in ipairs(obj.status.conditions) do
  if fresh(condition) then
    if condition.type == "NotAccepted" or (condition.type == "Accepted" and condition.status == "False") then
      return {status = "Degraded", message = condition.message or "not accepted"}
    elseif condition.type == "Accepted" and condition.status == "True" then
      hs.status, hs.message = "Healthy", "accepted"
      if obj.kind == "AIGatewayRoute" then
        hs.message = "accepted; listener, Backends and pools: see the HTTPRoute of this name"
      end
    end
  end
end
return hs
