// The program of the agreement table: parameters of `scenario.cc` as `name=value` arguments, its text on
// standard output, and the CPU seconds that it took.

#include <ctime>
#include <functional>
#include <iostream>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/propagation-module.h"
#include "ns3/spectrum-module.h"
#include "ns3/wifi-module.h"

#include "scenario.cc"

namespace
{

template <typename T>
void
Read(const std::string& text, T& into)
{
    std::istringstream stream(text);
    stream >> into;
}

template <>
void
Read(const std::string& text, std::string& into)
{
    into = text;
}

} // namespace

int
main(int argc, char** argv)
{
    airtoll_bench::Parameters p;
    std::map<std::string, std::function<void(const std::string&)>> known;
#define FIELD(name) known[#name] = [&p](const std::string& text) { Read(text, p.name); }
    FIELD(standard);
    FIELD(dataMode);
    FIELD(controlMode);
    FIELD(width);
    FIELD(guardIntervalNs);
    FIELD(streams);
    FIELD(ampduMax);
    FIELD(shortPreamble);
    FIELD(rtsThreshold);
    FIELD(stations);
    FIELD(slowStations);
    FIELD(slowMode);
    FIELD(rssDbm);
    FIELD(secondBand);
    FIELD(secondWidth);
    FIELD(secondMode);
    FIELD(hidden);
    FIELD(neighbourCells);
    FIELD(neighbourStations);
    FIELD(crossDbm);
    FIELD(channelSettings);
    FIELD(neighbourSettings);
    FIELD(amsduMax);
    FIELD(category);
    FIELD(wired);
    FIELD(wiredDelay);
    FIELD(wireFqCoDel);
    FIELD(tcpBuffer);
    FIELD(congestion);
    FIELD(direction);
    FIELD(transport);
    FIELD(payload);
    FIELD(interval);
    FIELD(trafficFrom);
    FIELD(warmUp);
    FIELD(duration);
    FIELD(run);
    FIELD(ofdma);
    FIELD(flowQueues);
    FIELD(neighbourInterval);
    FIELD(colors);
    FIELD(obssPdDbm);
    FIELD(heldFromDbm);
    FIELD(together);
    FIELD(window);
    FIELD(onBoundary);
    FIELD(emlsrPadding);
    FIELD(emlsrTransition);
#undef FIELD
    for (int i = 1; i < argc; ++i)
    {
        std::string argument(argv[i]);
        auto split = argument.find('=');
        auto field = known.find(argument.substr(0, split));
        if (split == std::string::npos || field == known.end())
        {
            std::cerr << argument << ": no parameter\n";
            return 2;
        }
        field->second(argument.substr(split + 1));
    }
    std::clock_t before = std::clock();
    std::cout << airtoll_bench::Run(p);
    std::cout << double(std::clock() - before) / CLOCKS_PER_SEC << '\n';
    return 0;
}
